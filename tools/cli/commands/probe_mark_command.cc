// `fieldcost probe mark`: manually excludes or keeps an event.
#include "common/base/clean_text.h"
#include "common/base/text.h"
#include "tools/cli/cli_commands.h"
#include "tools/cli/probe/local_events.h"
#include "tools/cli/probe/probe_json.h"
#include "tools/cli/probe/probe_options.h"
#include "tools/cli/terminal/terminal_io.h"

namespace fieldcost::cli {
namespace {

constexpr char kSetAside[] = "set-aside";
constexpr char kKeep[] = "keep";
constexpr char kNone[] = "none";
constexpr std::size_t kMaxReasonBytes = 255;

probe::Mark MarkOf(const std::string& text) {
  if (text == kSetAside) return probe::Mark::kSetAside;
  return text == kKeep ? probe::Mark::kKept : probe::Mark::kNone;
}

std::string_view SaidOf(probe::Mark mark) {
  switch (mark) {
    case probe::Mark::kSetAside:
      return "is set aside";
    case probe::Mark::kKept:
      return "is kept regardless of its times";
    case probe::Mark::kNone:
      break;
  }
  return "is judged by its times again";
}

Result<int> RunProbeMark(const command::Arguments& arguments) {
  FIELDCOST_ASSIGN(LocalEvents local,
                   OpenLocalEvents(arguments.Text("--db"), sqlite::Database::Access::kWrite));
  FIELDCOST_ASSIGN(const JudgedEvent event, FindEvent(local, arguments.Text("event")));
  const probe::Mark mark = MarkOf(arguments.Text("mark"));
  FIELDCOST_TRY(local.store.SetMark(event.row.key(), mark,
                                    CleanText(arguments.Text("--reason"), kMaxReasonBytes)));
  FIELDCOST_ASSIGN(const probe::EventRow row, local.store.Row(event.row.key()));
  FIELDCOST_TRY(WriteStdout(
      OutputOf(arguments).json
          ? MarkedJson(row)
          : fmt::format("{} ({}) {}\n", row.id.Hex(), EscapeControl(row.label), SaidOf(mark))));
  return 0;
}

}  // namespace

command::Command ProbeMarkCommand() {
  return {
      .name = "mark",
      .summary = "Set an event aside, or keep it, by hand",
      .help =
          R"(An event set aside stays in the database (fieldcost probe purge removes it) but is left out of
comparisons; none clears the mark. Marks are local; a server has its own. Examples:
  fieldcost probe mark 5be2c60e.3 set-aside --reason "a backup ran"
  fieldcost probe mark last keep)",
      .options = {ProbeEventOperand(),
                  {.names = "mark",
                   .value = "MARK",
                   .help = "New mark",
                   .choices = {kSetAside, kKeep, kNone},
                   .required = true},
                  {.names = "--reason", .value = "TEXT", .help = "Reason, shown with the event"},
                  ProbeDbOption()},
      .handler = RunProbeMark,
      .without = {"--csv"}};
}

}  // namespace fieldcost::cli
