// `fieldcost tree diff`: finds significant cost increases between two recordings.
#include <fmt/format.h>

#include <utility>

#include "tools/cli/cli_commands.h"
#include "tools/cli/tree/comparison.h"
#include "tools/cli/tree/tree_answer.h"

namespace fieldcost::cli {
namespace {

Result<int> RunTreeDiff(const command::Arguments& arguments) {
  std::vector<std::string> remarks;
  const std::string& old_name = arguments.Text("old");
  const std::string& new_name = arguments.Text("new");
  const auto by = DivideByOf(arguments.Text("--by"));
  FIELDCOST_ASSIGN(
      TreeSide before,
      LoadTreeSide(old_name, {.rules = arguments.Texts("--rename"), .by = by}, remarks));
  FIELDCOST_ASSIGN(TreeSide after, LoadTreeSide(new_name, {.by = by}, remarks));
  return PutComparison({.before = std::move(before),
                        .after = std::move(after),
                        .named = fmt::format("old {}, new {}", old_name, new_name),
                        .remarks = std::move(remarks)},
                       arguments.Text("--metric"), arguments);
}

}  // namespace

command::Command TreeDiffCommand() {
  command::Command diff{
      .name = "diff",
      .summary = "Significant cost increases between two recordings",
      .help =
          R"(Compares runs with runs: which paths changed, and whether the whole did. If the whole costs more,
either the machine was slower or the program is: fieldcost tree compare distinguishes them, as it
alternates. Main programs are treated as one, regardless of their file names. Paths that have
vanished stay in the tree. Exit status 1: the whole or a path costs significantly more; 2: too
little data, as for two parts of a recording of a single run; such a difference is shown without a
verdict. Examples:
  fieldcost tree diff old.fct new.fct
  fieldcost tree diff old.fct new.fct --metric allocated --all
  fieldcost tree diff a.fct@..5s a.fct@5s.. --svg change.svg
  fieldcost tree diff old.fct new.fct --html change.html
  fieldcost tree diff old.fct new.fct --by thread
  fieldcost tree diff old.fct new.fct --rename 'parse(char*)=parse(text)')",
      .options = {RecordingOperand("old", "OLD"), RecordingOperand("new", "NEW"), RenameOption(),
                  DivideByOption(), ComparedMetricOption()},
      .handler = RunTreeDiff};
  AddComparisonOptions(diff);
  return diff;
}

}  // namespace fieldcost::cli
