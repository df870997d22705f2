#include "tools/cli/commands/check_tree_command.h"

#include "tools/analysis/tree_view.h"
#include "tools/cli/costs/check_json.h"
#include "tools/cli/terminal/page_file.h"
#include "tools/cli/terminal/pager.h"
#include "tools/cli/terminal/terminal_io.h"
#include "tools/cli/tree/operand.h"
#include "tools/cli/tree/tree_answer.h"
#include "tools/report/tree/checked_contexts.h"
#include "tools/report/tree/checked_tree.h"
#include "tools/report/tree/flame_page.h"

namespace fieldcost::cli {

Result<TreeToCheck> LoadTreeToCheck(const std::string& operand) {
  FIELDCOST_ASSIGN(const TreeOperand parsed, ParseTreeOperand(operand));
  FIELDCOST_ASSIGN(const LoadedTree loaded, LoadTree(parsed));
  TreeToCheck tree;
  FIELDCOST_ASSIGN(tree.mean, MeanOf(loaded));
  FIELDCOST_ASSIGN(tree.metric, ChooseMetric(tree.mean.metrics, ""));
  tree.view = analysis::TopDown(tree.mean, tree.metric);
  if (!tree.view.IsDifference()) return tree;
  return Fail(ErrorCode::kInvalidArgument, "it is a difference of two trees, not a profile");
}

std::string TreeToCheckText(const TreeToCheck& tree, const analysis::CheckReport& report,
                            const draw::Style& style) {
  const std::string contexts = report::ContextsText(
      tree.mean, tree.metric, report::ContextsOf(tree.mean, tree.metric, report), style);
  return report::CheckedTreeText(tree.view, report, style) + (contexts.empty() ? "" : "\n") +
         contexts;
}

Status ShowCheckedTree(const std::string& operand, const analysis::CheckReport& report,
                       const Output& output) {
  FIELDCOST_ASSIGN(const TreeToCheck tree, LoadTreeToCheck(operand));
  if (output.json) return WriteStdout(CheckedTreeJson(tree, report));
  return WritePaged(TreeToCheckText(tree, report, output.style), output);
}

Status WriteFlameGraph(const std::string& operand, const std::filesystem::path& page,
                       const analysis::CheckReport& report, bool synthetic) {
  FIELDCOST_ASSIGN(const TreeOperand parsed, ParseTreeOperand(operand));
  FIELDCOST_ASSIGN(const TreeToCheck tree, LoadTreeToCheck(operand));
  return WritePage(page,
                   report::FlamePage({.view = &tree.view,
                                      .report = &report,
                                      .untrusted_name = parsed.file.filename().string(),
                                      .synthetic = synthetic}),
                   PageOf::kOwn);
}

}  // namespace fieldcost::cli
