// `fieldcost probe purge`: removes events.
#include <chrono>

#include "common/base/clock.h"
#include "common/base/text.h"
#include "tools/cli/cli_commands.h"
#include "tools/cli/probe/local_events.h"
#include "tools/cli/probe/probe_json.h"
#include "tools/cli/probe/probe_options.h"
#include "tools/cli/terminal/terminal_io.h"

namespace fieldcost::cli {
namespace {

constexpr std::size_t kAtOnce = 1'000;
constexpr std::chrono::hours kMayEndYet{24};

// Whether an event may be removed: it was set aside and, if it is not over, is at least a day old.
bool MayGo(const JudgedEvent& event, WallTime now) {
  if (event.verdict.why != probe::Why::kNotOver) return event.verdict.IsSetAside();
  const WallTime begin{std::chrono::microseconds(event.row.begin_ns / 1000)};
  return begin + kMayEndYet < now;
}

Result<std::vector<probe::EventKey>> FindThem(const LocalEvents& local, bool all) {
  std::vector<probe::EventKey> keys;
  FIELDCOST_ASSIGN(const JudgedEvents judged, LoadJudged(local, {}));
  const WallTime now = SystemClock().Now();
  for (const JudgedEvent& event : judged.events) {
    if (all || MayGo(event, now)) keys.push_back(event.row.key());
  }
  return keys;
}

Result<std::uint64_t> Remove(LocalEvents& local, const std::vector<probe::EventKey>& keys) {
  std::uint64_t removed = 0;
  for (std::size_t at = 0; at < keys.size(); at += kAtOnce) {
    const std::vector<probe::EventKey> some(
        keys.begin() + static_cast<std::ptrdiff_t>(at),
        keys.begin() + static_cast<std::ptrdiff_t>(std::min(at + kAtOnce, keys.size())));
    FIELDCOST_ASSIGN(sqlite::Transaction transaction, sqlite::Transaction::Begin(*local.database));
    FIELDCOST_ASSIGN(const std::uint64_t gone, local.store.Remove(some));
    FIELDCOST_TRY(transaction.Commit());
    removed += gone;
  }
  return removed;
}

Result<bool> Agreed(std::size_t events, bool all) {
  if (!StdinIsTerminal() || !StderrIsTerminal()) {
    return Fail(ErrorCode::kInvalidArgument,
                "purge needs confirmation to remove {}, but there is no terminal; use --yes",
                Counted(events, "event"));
  }
  return AskYes(
      fmt::format("{} will be removed with all points. Continue? [y/N] ",
                  all ? Counted(events, "event")
                      : Counted(events, "event that is set aside", "events that are set aside")));
}

Result<int> RunProbePurge(const command::Arguments& arguments) {
  const bool all = arguments.Has("--all");
  FIELDCOST_ASSIGN(LocalEvents local,
                   OpenLocalEvents(arguments.Text("--db"), sqlite::Database::Access::kWrite));
  FIELDCOST_ASSIGN(const std::vector<probe::EventKey> keys, FindThem(local, all));
  if (!keys.empty() && !arguments.Has("--yes")) {
    FIELDCOST_ASSIGN(const bool agreed, Agreed(keys.size(), all));
    if (!agreed) {
      Remark("nothing changed");
      return kDeclined;
    }
  }
  FIELDCOST_ASSIGN(const std::uint64_t removed, Remove(local, keys));
  FIELDCOST_TRY(WriteStdout(OutputOf(arguments).json
                                ? PurgedJson(removed)
                                : fmt::format("removed: {}\n", Counted(removed, "event"))));
  return 0;
}

}  // namespace

command::Command ProbePurgeCommand() {
  return {
      .name = "purge",
      .summary = "Remove the events that are set aside",
      .help =
          R"(Removes them with their points, permanently, from this machine only; unfinished events once they are
a day old. `fieldcost probe list --all` shows them, `mark EVENT keep` saves one. Exit status 1: you
declined. Examples:
  fieldcost probe purge --yes
  fieldcost probe purge --all)",
      .options = {{.names = "--all", .help = "Remove all events, including those not set aside"},
                  {.names = "--yes,-y", .help = "Do not ask"},
                  ProbeDbOption()},
      .handler = RunProbePurge,
      .without = {"--csv"}};
}

}  // namespace fieldcost::cli
