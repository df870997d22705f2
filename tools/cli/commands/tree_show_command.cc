// `fieldcost tree show`: a call tree as text, JSON, page or picture.
#include <fmt/ranges.h>

#include "common/base/text.h"
#include "tools/cli/cli_commands.h"
#include "tools/cli/common_options.h"
#include "tools/cli/terminal/pager.h"
#include "tools/cli/terminal/terminal_io.h"
#include "tools/cli/tree/operand.h"
#include "tools/cli/tree/tree_answer.h"

namespace fieldcost::cli {
namespace {

Result<int> RunTreeShow(const command::Arguments& arguments) {
  FIELDCOST_ASSIGN(const TreeOperand operand, OperandOf(arguments.Text("recording"), arguments));
  FIELDCOST_ASSIGN(const LoadedTree loaded, LoadTree(operand));
  FIELDCOST_ASSIGN(const tree::MeanTree mean, MeanOf(loaded));
  TreeShow show = TreeShowOf(arguments);
  show.named = arguments.Text("recording");
  show.operand = operand;
  show.recording = loaded.recording;
  FIELDCOST_TRY(PrintTree(mean, loaded.remarks, show, OutputOf(arguments)));
  return 0;
}

}  // namespace

command::Command TreeShowCommand() {
  command::Command show{
      .name = "show",
      .summary = "A call tree: callers, callees and their costs",
      .help =
          R"(Shows the mean per run. RECORDING@FROM..TO is part of its time, counted from the start of each run;
FROM is included, TO is not. Examples:
  fieldcost tree show a.fct
  fieldcost tree show a.fct@12s..14.5s --metric wall
  fieldcost tree show a.fct --callers 'malloc'
  fieldcost tree show a.fct --callees 'digest()'
  fieldcost tree show a.fct --flat --limit 20
  fieldcost tree show a.fct --by thread
  fieldcost tree show a.fct --flat --by process
  fieldcost tree show a.fct --html a.html
  fieldcost tree show a.fct --json | jq .nodes[1])",
      .options = {RecordingOperand()},
      .handler = RunTreeShow};
  AddTreeShowOptions(show);
  return show;
}

}  // namespace fieldcost::cli
