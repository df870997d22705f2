#include "tools/cli/commands/check_tree_command.h"

#include "tools/analysis/tree_view.h"
#include "tools/cli/costs/check_json.h"
#include "tools/cli/terminal/page_file.h"
#include "tools/cli/terminal/pager.h"
#include "tools/cli/terminal/terminal_io.h"
#include "tools/cli/tree/operand.h"
#include "tools/cli/tree/tree_answer.h"
#include "tools/report/tree/checked_tree.h"
#include "tools/report/tree/flame_page.h"

namespace fieldcost::cli {
Result<analysis::TreeView> LoadTreeToCheck(const std::string& operand) {
  FIELDCOST_ASSIGN(const TreeOperand parsed, ParseTreeOperand(operand));
  FIELDCOST_ASSIGN(const LoadedTree loaded, LoadTree(parsed));
  FIELDCOST_ASSIGN(const tree::MeanTree mean, MeanOf(loaded));
  FIELDCOST_ASSIGN(const std::size_t metric, ChooseMetric(mean.metrics, ""));
  analysis::TreeView view = analysis::TopDown(mean, metric);
  if (!view.IsDifference()) return view;
  return Fail(ErrorCode::kInvalidArgument, "it is a difference of two trees, not a profile");
}

Status ShowCheckedTree(const std::string& operand, const analysis::CheckReport& report,
                       const Output& output) {
  FIELDCOST_ASSIGN(const analysis::TreeView view, LoadTreeToCheck(operand));
  if (output.json) return WriteStdout(CheckedTreeJson(view, report));
  return WritePaged(report::CheckedTreeText(view, report, output.style), output);
}

Status WriteFlameGraph(const std::string& operand, const std::filesystem::path& page,
                       const analysis::CheckReport& report, bool synthetic) {
  FIELDCOST_ASSIGN(const TreeOperand parsed, ParseTreeOperand(operand));
  FIELDCOST_ASSIGN(const analysis::TreeView view, LoadTreeToCheck(operand));
  return WritePage(page,
                   report::FlamePage({.view = &view,
                                      .report = &report,
                                      .untrusted_name = parsed.file.filename().string(),
                                      .synthetic = synthetic}),
                   PageOf::kOwn);
}

}  // namespace fieldcost::cli
