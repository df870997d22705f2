// `fieldcost probe compare`: two groups of events, step by step; a gate for CI.
#include "tools/cli/commands.h"
#include "tools/cli/pager.h"
#include "tools/cli/probe/json.h"
#include "tools/cli/probe/options.h"
#include "tools/cli/probe/sides.h"
#include "tools/cli/probe/text.h"
#include "tools/cli/terminal_io.h"

namespace fieldcost::cli {
namespace {

Status Put(const std::vector<ProbeComparison>& comparisons, double least, bool is_gate,
           const Output& output) {
  if (output.json) return WriteStdout(ComparisonsJson(comparisons, least));
  std::string text;
  for (const ProbeComparison& each : comparisons) text += ComparisonText(each, output.style) + "\n";
  text += ComparisonVerdict(comparisons, least, is_gate);
  return WritePaged(text, output);
}

Result<int> Run(const command::Arguments& arguments) {
  const bool is_gate = arguments.Has("--fail-above");
  const double least = is_gate ? ParsePercent(arguments.Text("--fail-above")).value_or(0) : 0;
  FIELDCOST_ASSIGN(const ProbeSides sides,
                   LoadProbeSides(arguments.Text("base"), arguments.Text("new"),
                                  arguments.Text("--label"), arguments.Text("--db")));
  const std::vector<ProbeComparison> comparisons = CompareSides(sides, least);
  FIELDCOST_TRY(Put(comparisons, least, is_gate, OutputOf(arguments)));
  if (!is_gate) return 0;
  const probe::Change worst = WorstOf(comparisons);
  if (worst == probe::Change::kTooLittle) return kTooLittleData;
  return worst == probe::Change::kSlower ? kIncrease : kNoIncrease;
}

Status CheckPercent(std::string& untrusted_text) {
  if (ParsePercent(untrusted_text)) return {};
  return Fail(ErrorCode::kInvalidArgument, "expected a percentage from 0 to 10000, such as 10%");
}

}  // namespace

command::Command ProbeCompareCommand() {
  return {
      .name = "compare",
      .summary = "Compare two groups of events, step by step",
      .help =
          R"(Events are selected by tag:TAG, build:BUILD, program:NAME, label:LABEL, session:ID (comma-separated;
all must match), by comma-separated names, or by FILE: and any of these for another database. Each
label is compared on its own, without events that are set aside.

Means are geometric, ratios have 95 % intervals. A change is reported if it is significant by Welch's
test of the logarithms, at a 5 % false discovery rate over all steps (Benjamini and Hochberg), and
greater than what is allowed. Each side needs 5 events; with 10 events varying by 7 %, a 20 %
increase is nearly always detected.

With --fail-above, for continuous integration: exit status 1 if whole events of a label take longer
by more than that, significantly; 2 if there is too little data for every label; else 0. The last
line states the result. Examples:
  fieldcost probe compare tag:warm tag:cold --label index_open
  fieldcost probe compare build:1.2,tag:cold build:1.3,tag:cold
  fieldcost probe compare base/probe.db: build:1.3 --fail-above 10%)",
      .options = {ProbeSelectionOperand("base", "BASE", "The events to compare with"),
                  ProbeSelectionOperand("new", "NEW", "The events to judge"),
                  ProbeLabelOption(),
                  {.names = "--fail-above",
                   .value = "PERCENT",
                   .help = "Exit with 1 if slower by more than that, 2 with too little data",
                   .check = CheckPercent},
                  ProbeDbOption()},
      .handler = Run,
      .without = {"--csv"}};
}

}  // namespace fieldcost::cli
