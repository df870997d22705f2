// `fieldcost idle diff`: how the reasons for idle CPUs have changed.
#include <fmt/format.h>

#include <utility>

#include "tools/cli/cli_commands.h"
#include "tools/cli/idle/idle_recording.h"
#include "tools/cli/tree/comparison.h"
#include "tools/cli/tree/tree_answer.h"

namespace fieldcost::cli {
namespace {

constexpr std::uint64_t kMostParts = 1'000;

// Loads a recording, or a file that a `tree` command has made from recordings.
Result<TreeSide> LoadSide(const std::string& name, const IdleSide& side, std::uint64_t parts,
                          std::vector<std::string>& remarks) {
  FIELDCOST_ASSIGN(TreeSide loaded,
                   LoadTreeSide(name, {.metrics = side.metrics, .parts = parts}, remarks));
  if (tree::FindMetric(loaded.mean.metrics, side.metrics[0])) return loaded;
  FIELDCOST_ASSIGN(const TreeSide all, LoadTreeSide(name, {}, remarks));
  return NoIdleRecording(name, all.mean.metrics);
}

Result<int> RunIdleDiff(const command::Arguments& arguments) {
  std::vector<std::string> remarks;
  const IdleSide& side = FindIdleSide(arguments.Text("--side"));
  const std::string& old_name = arguments.Text("old");
  const std::string& new_name = arguments.Text("new");
  const std::uint64_t parts = arguments.Number("--parts").value_or(1);
  FIELDCOST_ASSIGN(TreeSide before, LoadSide(old_name, side, parts, remarks));
  FIELDCOST_ASSIGN(TreeSide after, LoadSide(new_name, side, parts, remarks));
  if (parts > 1) {
    remarks.push_back(
        fmt::format("{} parts of each run are treated as runs: a significant change holds for "
                    "these recordings, "
                    "not for any two; costs are per part",
                    parts));
  }
  return PutComparison({.before = std::move(before),
                        .after = std::move(after),
                        .named = fmt::format("old {}, new {}", old_name, new_name),
                        .remarks = std::move(remarks)},
                       std::string(side.metrics[0]), arguments);
}

command::Option Operand(std::string_view name, std::string_view value) {
  command::Option option = RecordingOperand(name, value);
  option.help = "A recording of idle CPUs, or RECORDING@FROM..TO for part of its time";
  return option;
}

}  // namespace

command::Command IdleDiffCommand() {
  command::Command diff{
      .name = "diff",
      .summary = "What changed in why CPUs are idle, between two recordings",
      .help =
          R"(Like fieldcost tree diff, including the exit status: idle time that grew or shrank significantly
between runs. Examples:
  fieldcost idle diff old.fct new.fct
  fieldcost idle diff old.fct new.fct --side pairs
  fieldcost idle diff one.fct other.fct --parts 20
  fieldcost idle diff a.fct@..5s a.fct@5s.. --html change.html)",
      .options = {Operand("old", "OLD"),
                  Operand("new", "NEW"),
                  {.names = "--side",
                   .value = "SIDE",
                   .help = "What left CPUs idle (to), what ended that (from), or both",
                   .default_text = kToSide.name,
                   .choices = {"to", "from", "pairs"}},
                  {.names = "--parts",
                   .value = "N",
                   .help = "Split a single run into N parts and treat them as runs; at most 1000",
                   .check = command::CheckBetween(1, kMostParts)}},
      .handler = RunIdleDiff};
  AddComparisonOptions(diff);
  return diff;
}

}  // namespace fieldcost::cli
