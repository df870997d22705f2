// `fieldcost tree diff`: significant cost increases between two recordings.
#include "tools/cli/commands.h"
#include "tools/cli/tree/answer.h"
#include "tools/cli/tree/comparison.h"

namespace fieldcost::cli {
namespace {

Result<int> Run(const command::Arguments& arguments) {
  std::vector<std::string> remarks;
  const std::string& old_name = arguments.Text("old");
  const std::string& new_name = arguments.Text("new");
  FIELDCOST_ASSIGN(const TreeSide before,
                   LoadTreeSide(old_name, {.rules = arguments.Texts("--rename")}, remarks));
  FIELDCOST_ASSIGN(const TreeSide after, LoadTreeSide(new_name, {}, remarks));
  return PutComparison(before, after, old_name + ", then " + new_name, std::move(remarks),
                       arguments.Text("--metric"), arguments);
}

}  // namespace

command::Command TreeDiffCommand() {
  command::Command diff{
      .name = "diff",
      .summary = "Significant cost increases between two recordings",
      .help =
          R"(Compares runs with runs: a common slowdown is reported separately, then which paths changed beyond
it. What has vanished stays in the tree. Exit status 1: something costs more; 2: too little data.
Recordings of ten runs each find a path that became 50 % more expensive.
Examples:
  fieldcost tree diff old.fct new.fct
  fieldcost tree diff old.fct new.fct --metric allocated --all
  fieldcost tree diff a.fct@..5s a.fct@5s.. --svg change.svg
  fieldcost tree diff old.fct new.fct --html change.html
  fieldcost tree diff old.fct new.fct --rename 'parse(char*)=parse(text)')",
      .options = {RecordingOperand("old", "OLD"),
                  RecordingOperand("new", "NEW"),
                  {.names = "--rename",
                   .value = "OLD=NEW",
                   .help = "A function of OLD with another name in NEW; * is any text",
                   .repeats = true},
                  ComparedMetricOption()},
      .handler = Run};
  AddComparisonOptions(diff);
  return diff;
}

}  // namespace fieldcost::cli
