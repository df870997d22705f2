// `fieldcost-aggregator recover`: reports what is lost with a damaged log, or continues without it.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "aggregator/operate/operate_commands.h"
#include "aggregator/operate/with_store.h"

namespace fieldcost::aggregator {
namespace {

Outcome OutcomeOf(const store::RecoveryReport& report) {
  const auto count = [&](store::LostWrite::What what) {
    return static_cast<std::uint64_t>(
        std::count_if(report.lost.begin(), report.lost.end(),
                      [&](const store::LostWrite& write) { return write.what == what; }));
  };
  Outcome outcome;
  outcome.Add("damage", report.damage)
      .Add("lost_batches", count(store::LostWrite::kBatch))
      .Add("lost_withdrawals", count(store::LostWrite::kWithdrawal))
      .Add("lost_enrolments", count(store::LostWrite::kEnrolment))
      .Add("lost_revocations", count(store::LostWrite::kRevocation))
      .Add("kept_in", report.kept_in.string())
      .Add("problem", report.problem);
  return outcome;
}

// Prints the lost writes, one per line, and the consequences.
void PrintLost(const store::RecoveryReport& report, const std::vector<std::string>& lost,
               bool is_dropped) {
  for (const std::string& text : lost) fmt::print("{}\n", text);
  if (report.damage.empty()) return;
  fmt::print(
      "{}: this {} lost, as far as it is readable; unreadable records may have held more.\nAgents "
      "received confirmation of its arrival and do not send it again. Restoring a backup "
      "from\nbefore the damage may lose less: see fieldcost-aggregator(8).\n",
      report.damage, is_dropped ? "is" : "would be");
}

// Returns status 0 if there was nothing to do, or it is done.
Result<int> Recover(const command::Arguments& arguments) {
  const bool drop_damaged = arguments.Has("--drop-damaged");
  const bool json = arguments.Has("--json");
  FIELDCOST_ASSIGN(const Config config, ConfigOf(arguments));
  FIELDCOST_TRY(CheckStoreExists(config));
  FIELDCOST_ASSIGN(const store::RecoveryReport report,
                   store::Store::Recover(config.store, drop_damaged));
  Outcome outcome = OutcomeOf(report);
  std::vector<std::string> lost;
  for (const store::LostWrite& write : report.lost) lost.push_back(store::TextOf(write));
  if (json) {
    outcome.Add("lost", std::move(lost));
  } else {
    PrintLost(report, lost, drop_damaged);
  }
  const bool is_whole = report.damage.empty();
  Print(outcome,
        is_whole       ? "no log of the store is damaged"
        : drop_damaged ? "the log was cut off where it was damaged"
                       : "a log of the store is damaged",
        json);
  return is_whole || (drop_damaged && report.problem.empty()) ? 0 : 1;
}

}  // namespace

command::Command RecoverCommand() {
  return {
      .name = "recover",
      .summary = "Report what a damaged log loses, or continue without it",
      .help =
          R"(For a server that does not start because a log of its store is damaged. Status 0: nothing is
damaged, or the damage was dropped; 1: something is damaged, and nothing was changed; 65: the damage
cannot be cut off.

Examples:
  fieldcost-aggregator recover --config aggregator.toml
  fieldcost-aggregator recover --config aggregator.toml --drop-damaged)",
      .options = {{.names = "--drop-damaged",
                   .help = "Continue without it: cut the log off where it is damaged; the rest is "
                           "kept in DATA_DIR/damaged.N"}},
      .handler = Recover};
}

}  // namespace fieldcost::aggregator
