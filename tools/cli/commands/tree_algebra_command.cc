// `fieldcost tree add`, `avg` and `min`: compute trees from trees.
#include <vector>

#include "common/base/text.h"
#include "common/tree/algebra.h"
#include "common/tree/codec.h"
#include "tools/cli/cli_commands.h"
#include "tools/cli/terminal/terminal_io.h"
#include "tools/cli/tree/operand.h"
#include "tools/cli/tree/tree_answer.h"

namespace fieldcost::cli {
namespace {

// The options for showing a tree, named "add a.fct b.fct" on a page.
TreeShow ShowOfMany(std::string_view command, const command::Arguments& arguments) {
  TreeShow show = TreeShowOf(arguments);
  show.named = command;
  for (const std::string& name : arguments.Texts("recording")) show.named += " " + name;
  return show;
}

// Like PutTree().
Status PutMean(const tree::MeanTree& mean, const std::vector<std::string>& remarks,
               const command::Arguments& arguments, const TreeShow& show) {
  const std::string& file = arguments.Text("--output");
  if (file.empty()) return PrintTree(mean, remarks, show, OutputOf(arguments));
  for (const std::string& remark : remarks) Remark(EscapeControl(remark));
  return SaveTree(file, tree::EncodeMeanTree(mean));
}

struct Operands {
  std::vector<tree::Tree> runs;
  std::vector<tree::MeanTree> means;  // all operands, if any of them has no single runs
  std::vector<std::string> remarks;
};

void Append(const std::vector<std::string>& more, std::vector<std::string>& remarks) {
  remarks.insert(remarks.end(), more.begin(), more.end());
}

// Threads of several recordings are merged if they have the same name.
Result<Operands> Load(const command::Arguments& arguments) {
  const std::vector<std::string>& names = arguments.Texts("recording");
  Operands operands;
  std::vector<LoadedTree> loaded;
  for (const std::string& name : names) {
    FIELDCOST_ASSIGN(const TreeOperand operand, OperandOf(name, arguments, true));
    FIELDCOST_ASSIGN(LoadedTree one, LoadTree(operand));
    Append(one.remarks, operands.remarks);
    loaded.push_back(std::move(one));
  }
  for (LoadedTree& one : loaded) {
    if (auto* const runs = std::get_if<tree::Tree>(&one.tree)) {
      operands.runs.push_back(std::move(*runs));
    }
  }
  if (operands.runs.size() == loaded.size()) return operands;
  if (!operands.runs.empty()) {
    return Fail(ErrorCode::kInvalidArgument,
                "some are runs, others means or differences: use `tree avg` on the runs first");
  }
  for (LoadedTree& one : loaded) {
    operands.means.push_back(std::get<tree::MeanTree>(std::move(one.tree)));
  }
  return operands;
}

Result<int> Add(const command::Arguments& arguments) {
  FIELDCOST_ASSIGN(Operands operands, Load(arguments));
  if (operands.means.empty()) {
    FIELDCOST_ASSIGN(const auto sum, tree::Add(operands.runs));
    Append(sum.remarks, operands.remarks);
    FIELDCOST_TRY(PutTree(sum.tree, operands.remarks, arguments, ShowOfMany("add", arguments)));
  } else {
    FIELDCOST_ASSIGN(const auto sum, tree::Add(operands.means));
    Append(sum.remarks, operands.remarks);
    FIELDCOST_TRY(PutMean(sum.tree, operands.remarks, arguments, ShowOfMany("add", arguments)));
  }
  return 0;
}

Result<Operands> LoadRunsOf(const command::Arguments& arguments) {
  FIELDCOST_ASSIGN(Operands operands, Load(arguments));
  if (operands.means.empty()) return operands;
  return Fail(ErrorCode::kInvalidArgument, "means and differences have no runs");
}

Result<int> Average(const command::Arguments& arguments) {
  FIELDCOST_ASSIGN(Operands operands, LoadRunsOf(arguments));
  FIELDCOST_ASSIGN(const auto sum, tree::Add(operands.runs));
  Append(sum.remarks, operands.remarks);
  FIELDCOST_ASSIGN(const tree::MeanTree mean, tree::Average(sum.tree));
  FIELDCOST_TRY(PutMean(mean, operands.remarks, arguments, ShowOfMany("avg", arguments)));
  return 0;
}

Result<int> Minimum(const command::Arguments& arguments) {
  FIELDCOST_ASSIGN(Operands operands, LoadRunsOf(arguments));
  FIELDCOST_ASSIGN(const auto least, tree::Minimum(operands.runs));
  Append(least.remarks, operands.remarks);
  FIELDCOST_TRY(PutTree(least.tree, operands.remarks, arguments, ShowOfMany("min", arguments)));
  return 0;
}

command::Command Combining(command::Command command) {
  command::Option recordings = RecordingOperand();
  recordings.repeats = true;
  command.options = {recordings, TreeOutputOption()};
  AddTreeShowOptions(command);
  return command;
}

}  // namespace

command::Command TreeAddCommand() {
  return Combining({.name = "add",
                    .summary = "Add all runs of several recordings",
                    .help = R"(Gives the same bytes in any order and grouping. Examples:
  fieldcost tree add monday.fct tuesday.fct -o week.fct
  fieldcost tree add a.fct@0..5s a.fct@10s..15s --flat
  fieldcost tree add monday.fct tuesday.fct --by thread)",
                    .handler = Add});
}

command::Command TreeAverageCommand() {
  return Combining({.name = "avg",
                    .summary = "The mean of all runs of several recordings, exactly",
                    .help = R"(Example:
  fieldcost tree avg run1.fct run2.fct run3.fct -o mean.fct)",
                    .handler = Average});
}

command::Command TreeMinimumCommand() {
  return Combining(
      {.name = "min",
       .summary = "The paths of every run, with their lowest cost in any",
       .help =
           R"(Free of asynchronous noise; biased low with few samples, which it reports. Example:
  fieldcost tree min run*.fct -o least.fct)",
       .handler = Minimum});
}

}  // namespace fieldcost::cli
