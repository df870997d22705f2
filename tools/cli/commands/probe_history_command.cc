// `fieldcost probe history`: a label's times over builds.
#include "common/base/nearest.h"
#include "common/base/text.h"
#include "tools/cli/cli_commands.h"
#include "tools/cli/probe/event_text.h"
#include "tools/cli/probe/local_events.h"
#include "tools/cli/probe/probe_json.h"
#include "tools/cli/probe/probe_options.h"
#include "tools/cli/terminal/pager.h"
#include "tools/cli/terminal/terminal_io.h"

namespace fieldcost::cli {
namespace {

constexpr std::size_t kMaxNamedLabels = 10'000;

Error NoSuchLabel(const std::string& label, const LocalEvents& local) {
  std::vector<std::string> labels;
  if (const auto counts = local.store.Labels({}, std::nullopt, kMaxNamedLabels)) {
    for (const probe::LabelCount& count : counts->labels) labels.push_back(count.label);
  }
  const std::string meant = MeantName(label, labels);
  return Fail(ErrorCode::kNotFound, "no such event with label {}{}", EscapeControl(label),
              meant.empty() || meant == label
                  ? std::string()
                  : fmt::format(": did you mean {}?", EscapeControl(meant)));
}

Result<int> RunProbeHistory(const command::Arguments& arguments) {
  EventSelection selection{.label = arguments.Text("label"),
                           .program = arguments.Text("--program"),
                           .tags = arguments.Texts("--tag")};
  FIELDCOST_ASSIGN(const LocalEvents local, OpenLocalEvents(arguments.Text("--db")));
  FIELDCOST_ASSIGN(const JudgedEvents judged, LoadJudged(local, selection));
  if (judged.events.empty()) return NoSuchLabel(selection.label, local);
  std::vector<probe::EventRow> rows;
  std::vector<probe::SideRow> all;
  for (const JudgedEvent& event : judged.events) {
    all.push_back({event.row, event.verdict.IsSetAside()});
    if (!event.verdict.IsSetAside()) rows.push_back(event.row);
  }
  const std::vector<probe::HistoryLine> history = probe::History(rows, 0);
  const probe::SideFacts facts = probe::FactsOf(all);
  const Output output = OutputOf(arguments);
  if (output.json) {
    FIELDCOST_TRY(WriteStdout(HistoryJson(selection.label, history, facts)));
  } else {
    FIELDCOST_TRY(WritePaged(HistoryText(selection.label, history, facts, output.style), output));
  }
  return 0;
}

}  // namespace

command::Command ProbeHistoryCommand() {
  const auto only = [](std::string_view names, std::string_view value, std::string_view help) {
    return command::Option{
        .names = names, .value = value, .help = help, .check = command::CheckNotEmpty};
  };
  command::Option tag = only("--tag", "TAG", "Only runs with this tag");
  tag.repeats = true;
  return {
      .name = "history",
      .summary = "A label's times over builds",
      .help =
          R"(Lists builds in the order of their first events, each compared with the one before it (like compare,
at a 1 % false discovery rate over all builds). Runs of different programs, or with different tags,
are listed and compared separately. Events that are set aside are left out; points that were lost
are reported. Examples:
  fieldcost probe history index_open --tag cold
  fieldcost probe history index_open --json | jq '.lines[].builds[].median_ns')",
      .options = {{.names = "label",
                   .value = "LABEL",
                   .help = "Label of the events",
                   .check = command::CheckNotEmpty,
                   .required = true},
                  std::move(tag),
                  only("--program", "NAME", "Only this program"),
                  ProbeDbOption()},
      .handler = RunProbeHistory,
      .without = {"--csv"}};
}

}  // namespace fieldcost::cli
