// `fieldcost probe compare`: two groups of events, step by step; a gate for CI.
#include "tools/cli/cli_commands.h"
#include "tools/cli/probe/alternate.h"
#include "tools/cli/probe/event_text.h"
#include "tools/cli/probe/probe_json.h"
#include "tools/cli/probe/probe_options.h"
#include "tools/cli/probe/sides.h"
#include "tools/cli/run/recorder_target.h"
#include "tools/cli/terminal/pager.h"
#include "tools/cli/terminal/terminal_io.h"

namespace fieldcost::cli {
namespace {

Status Put(const probe::ComparedSides& sides, double least, const command::Arguments& arguments) {
  const Output output = OutputOf(arguments);
  if (output.json) return WriteStdout(ComparisonsJson(sides, least));
  std::string text;
  for (const probe::ComparedGroup& each : sides.groups) {
    text += ComparisonText(each, output.style) + "\n";
  }
  text += SidesText(sides, !arguments.program().empty());
  text += ComparisonVerdict(sides.groups, least, arguments.Has("--fail-above"));
  return WritePaged(text, output);
}

Result<int> RunProbeCompare(const command::Arguments& arguments) {
  const bool is_gate = arguments.Has("--fail-above");
  const double least = is_gate ? ParsePercent(arguments.Text("--fail-above")).value_or(0) : 0;
  FIELDCOST_ASSIGN(const probe::ComparedSides sides,
                   !arguments.program().empty()
                       ? CompareAlternately(arguments, least)
                       : CompareSelections({.base = arguments.Text("base"),
                                            .changed = arguments.Text("new"),
                                            .label = arguments.Text("--label"),
                                            .db = arguments.Text("--db"),
                                            .least = least}));
  FIELDCOST_TRY(Put(sides, least, arguments));
  if (!is_gate) return 0;
  const inference::Verdict worst = probe::WorstOf(sides.groups);
  if (worst == inference::Verdict::kTooLittleData) return kTooLittleData;
  return worst == inference::Verdict::kMore ? kIncrease : kNoIncrease;
}

Status CheckSides(const command::Arguments& arguments) {
  const bool has_programs = !arguments.program().empty();
  if (has_programs && (arguments.Has("base") || arguments.Has("--db"))) {
    return Fail(ErrorCode::kInvalidArgument,
                "either two programs or recorded events (BASE NEW) are compared");
  }
  if (!has_programs && !arguments.Has("new")) {
    return Fail(ErrorCode::kInvalidArgument, "expected BASE NEW, or OLD ... -- NEW ...");
  }
  for (const char* const option : {"--points", "--input", "--show-output"}) {
    if (!has_programs && arguments.Has(option)) {
      return Fail(ErrorCode::kInvalidArgument, "{} needs programs: -- OLD ... -- NEW ...", option);
    }
  }
  return {};
}

Status CheckPercent(std::string& untrusted_text) {
  if (ParsePercent(untrusted_text)) return {};
  return Fail(ErrorCode::kInvalidArgument, "expected a percentage from 0 to 10000, such as 10%");
}

// An optional operand, because programs may be given instead.
command::Option SideOperand(std::string_view name, std::string_view value, std::string_view help) {
  command::Option side = ProbeSelectionOperand(name, value, help);
  side.required = false;
  return side;
}

}  // namespace

command::Command ProbeCompareCommand() {
  return {
      .name = "compare",
      .summary = "Compare two groups of events, or two programs, step by step",
      .help =
          R"(With two programs, each is recorded --runs times, alternately, so that a disturbance of the machine
slows both; their output is not shown, and the runs stay on this machine. Each run reads all of
standard input, which must be a file, or of --input FILE. Both main programs are treated as one,
regardless of their file names. Otherwise events are selected by tag:TAG, build:BUILD, program:NAME,
label:LABEL, session:ID (comma-separated; all must match), by comma-separated names, or by FILE: and
any of these for another database.

Each label is compared on its own, within one program and one set of tags, without events that are
set aside; labels that only one side has are left out and listed. To compare different tags or
programs, both selections must name theirs. Points that were lost are reported, as is a different
load: how long the programs waited for a CPU.

Means are geometric, ratios have 95 % intervals. A change is reported if it is significant by
Welch's test of the logarithms, at a 1 % false discovery rate over all steps (Benjamini and
Hochberg), and greater than the limit. Each side needs 5 runs (or else 5 events); with 10 runs
varying by 7 %, a 20 % increase is nearly always detected. The part that a run's wait for a CPU
explains is removed if it is known for all runs and similar on both sides; ratios are then at equal
waits.

With --fail-above, for continuous integration: exit status 1 if whole events of a label take longer
by more than that, significantly; 2 if there is too little data for every label; else 0. The last
line states the result. Examples:
  fieldcost probe compare ./old args -- ./new args
  fieldcost probe compare --label index_open --fail-above 10% -- ./old -- ./new
  fieldcost probe compare tag:warm tag:cold --label index_open
  fieldcost probe compare build:1.2,tag:cold build:1.3,tag:cold
  fieldcost probe compare base/probe.db: build:1.3 --fail-above 10%)",
      .options = {SideOperand("base", "BASE", "The events to compare with"),
                  SideOperand("new", "NEW", "The events to judge"),
                  ProbeLabelOption(),
                  {.names = "--fail-above",
                   .value = "PERCENT",
                   .help = "Exit with 1 if slower by more than that, 2 with too little data",
                   .check = CheckPercent},
                  RunsOption("Number of runs of each program", "10"),
                  InputOption(),
                  {.names = "--points",
                   .value = "FILE",
                   .help = "Names points of the programs (probe.toml)",
                   .completes = command::Completes::kFiles,
                   .check = command::CheckNotEmpty},
                  {.names = "--show-output", .help = "Connect the programs to the terminal"},
                  ProbeDbOption()},
      .handler = RunProbeCompare,
      .without = {"--csv"},
      .takes_program = true,
      .instead_of_program = {"base"},
      .check = CheckSides};
}

}  // namespace fieldcost::cli
