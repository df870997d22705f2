#include "tools/cli/tree/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/base/check.h"
#include "common/base/text.h"
#include "common/tree/algebra.h"
#include "common/tree/codec.h"
#include "common/tree/compare_trees.h"
#include "common/tree/main_program.h"
#include "common/tree/remap.h"
#include "tools/cli/terminal/page_file.h"
#include "tools/cli/terminal/pager.h"
#include "tools/cli/terminal/terminal_io.h"
#include "tools/cli/tree/operand.h"
#include "tools/cli/tree/tree_answer.h"
#include "tools/cli/tree/tree_json.h"
#include "tools/report/tree/tree_page.h"
#include "tools/report/tree/tree_svg.h"
#include "tools/report/tree/tree_text.h"

namespace fieldcost::cli {
namespace {

constexpr std::size_t kMostChanges = 20;  // in a table, without --all

int ExitStatusOf(const tree::Comparison& comparison) {
  if (!comparison.is_enough) return kTooLittleData;
  return comparison.HasIncrease() ? kIncrease : kNoIncrease;
}

// Folds recursion, whose depth differs between runs; then changes names.
Result<TreeSide> SideOfRuns(RecordedRuns recorded, tree::RenameRules& rules) {
  FIELDCOST_ASSIGN(const tree::PathMap renamed, tree::Rename(*recorded.dictionary, rules));
  FIELDCOST_ASSIGN(const tree::PathMap folded, tree::FoldRecursion(*renamed.dictionary));
  TreeSide side;
  for (tree::RunValues& run : recorded.runs) {
    FIELDCOST_ASSIGN(run, tree::Apply(renamed, run));
    FIELDCOST_ASSIGN(run, tree::Apply(folded, run));
    FIELDCOST_ASSIGN(tree::Tree one, tree::TreeOf(folded.dictionary, recorded.metrics, {&run, 1}));
    side.runs.push_back(std::move(one));
  }
  FIELDCOST_ASSIGN(const tree::Tree all,
                   tree::TreeOf(folded.dictionary, recorded.metrics, recorded.runs));
  FIELDCOST_ASSIGN(side.mean, tree::Average(all));
  side.command = std::move(recorded.command);
  return side;
}

Result<TreeSide> SideOfSums(LoadedTree loaded, tree::RenameRules& rules, bool is_renamed) {
  TreeSide side;
  if (auto* const sums = std::get_if<tree::Tree>(&loaded.tree)) {
    FIELDCOST_ASSIGN(const tree::PathMap renamed, tree::Rename(*sums->dictionary, rules));
    FIELDCOST_ASSIGN(*sums, tree::Apply(renamed, *sums));
  } else if (is_renamed) {
    return Fail(
        ErrorCode::kInvalidArgument,
        "--rename cannot be applied to means and differences: rename before they are taken");
  }
  FIELDCOST_ASSIGN(side.mean, MeanOf(loaded));
  return side;
}

// Renames the old side's main program to the name of the new side's.
Status UnifyPrograms(ComparedSides& sides) {
  TreeSide& before = sides.before;
  const auto programs = tree::DifferentPrograms(*before.mean.dictionary, before.command,
                                                *sides.after.mean.dictionary, sides.after.command);
  if (!programs) return {};
  const auto rename = [&](std::shared_ptr<const tree::Dictionary>& dictionary) -> Status {
    FIELDCOST_ASSIGN(dictionary,
                     tree::RenameModule(*dictionary, programs->before, programs->after));
    return {};
  };
  FIELDCOST_TRY(rename(before.mean.dictionary));
  for (tree::Tree& run : before.runs) FIELDCOST_TRY(rename(run.dictionary));
  sides.remarks.push_back(fmt::format("{} and {} are compared as one program, {}", programs->before,
                                      programs->after, programs->after));
  return {};
}

Result<tree::Comparison> CompareSides(const ComparedSides& sides, const tree::MeanTree& difference,
                                      const tree::Metric& metric) {
  const tree::CompareOptions options = tree::CompareOptionsFor(metric);
  const TreeSide& before = sides.before;
  const TreeSide& after = sides.after;
  if (before.runs.empty() || after.runs.empty()) {
    return tree::Compare(difference, metric.name, options);
  }
  return tree::Compare(before.runs, after.runs, metric.name, options);
}

Status PrintComparison(const tree::Comparison& comparison, const ComparedSides& sides,
                       const tree::MeanTree& difference, std::size_t metric, const TreeShow& show,
                       const Output& output) {
  const std::vector<std::string>& remarks = sides.remarks;
  const tree::Metric& measured = difference.metrics[metric];
  const analysis::TreeView view = analysis::TopDown(difference, metric);
  if (!show.svg.empty()) {
    const std::vector<std::string> marks = report::MarksOf(comparison, view);
    std::vector<bool> uncertain(marks.size());
    std::transform(marks.begin(), marks.end(), uncertain.begin(),
                   [](const std::string& mark) { return mark.empty(); });
    return WritePage(show.svg, report::TreeSvg(view, uncertain), PageOf::kOwn);
  }
  if (output.json) return WriteStdout(TreeDiffJson(comparison, view, remarks));
  if (output.csv) return WriteStdout(report::ChangesCsv(comparison));
  for (const std::string& remark : remarks) Remark(EscapeControl(remark));
  std::string text =
      report::CompareSentence(comparison, measured, sides.order, output.style) + "\n" +
      report::ChangesText(comparison, measured, output.style, show.all ? 0 : kMostChanges) + "\n" +
      report::TreeText(
          view, report::MarksOf(comparison, view),
          {.least_share = show.all ? 0 : 0.005, .max_depth = show.depth, .max_rows = 0},
          output.style);
  return WritePaged(text, output);
}

// Compares all metrics, because the page lets its reader choose one.
Status WriteDifferencePage(const ComparedSides& sides, report::TreePage page,
                           const std::string& file) {
  FIELDCOST_TRY(CheckPageSize(page.tree));
  for (const tree::Metric& metric : page.tree.metrics) {
    FIELDCOST_ASSIGN(tree::Comparison comparison, CompareSides(sides, page.tree, metric));
    page.comparisons.push_back(std::move(comparison));
  }
  return WritePage(file, report::TreePageHtml(page), PageOf::kOwn);
}

}  // namespace

Result<TreeSide> LoadTreeSide(const std::string& name, const SideOptions& options,
                              std::vector<std::string>& remarks) {
  FIELDCOST_ASSIGN(TreeOperand operand, ParseTreeOperand(name));
  operand.by = options.by;
  operand.by_name = true;
  FIELDCOST_ASSIGN(tree::RenameRules rename, tree::RenameRules::Parse(options.rules));
  FIELDCOST_ASSIGN(std::optional<RecordedRuns> recorded, LoadEachRun(operand, options.parts));
  TreeSide side;
  if (recorded) {
    remarks.insert(remarks.end(), recorded->remarks.begin(), recorded->remarks.end());
    if (!options.metrics.empty()) KeepMetrics(options.metrics, *recorded);
    FIELDCOST_ASSIGN(side, SideOfRuns(*std::move(recorded), rename));
  } else {
    FIELDCOST_ASSIGN(LoadedTree loaded, LoadTree(operand));
    FIELDCOST_ASSIGN(side, SideOfSums(std::move(loaded), rename, !options.rules.empty()));
  }
  for (const std::string& rule : rename.Unmatched()) {
    remarks.push_back("--rename " + rule + " matches nothing");
  }
  return side;
}

Result<TreeSide> JoinSides(std::vector<TreeSide> sides) {
  FIELDCOST_CHECK(!sides.empty());
  TreeSide joined;
  for (TreeSide& side : sides) {
    for (tree::Tree& run : side.runs) joined.runs.push_back(std::move(run));
  }
  FIELDCOST_ASSIGN(const auto sum, tree::Add(joined.runs));
  FIELDCOST_ASSIGN(joined.mean, tree::Average(sum.tree));
  joined.command = std::move(sides.front().command);
  return joined;
}

void AddComparisonOptions(command::Command& command) {
  const std::vector<command::Option> options = {
      {.names = "--output,-o",
       .value = "FILE",
       .help = "Also write the difference to FILE",
       .completes = command::Completes::kFiles},
      {.names = "--svg",
       .value = "FILE",
       .help = "Write a flame graph to FILE (- = stdout)",
       .completes = command::Completes::kFiles},
      TreePageOption(),
      {.names = "--depth",
       .value = "N",
       .help = "At most N levels deep",
       .check = command::CheckNumber},
      {.names = "--all", .help = "Include what costs less than 0.5 % of the total"}};
  command.options.insert(command.options.end(), options.begin(), options.end());
  command.check = CheckTreePage;
}

command::Option ComparedMetricOption() {
  return {.names = "--metric",
          .value = "NAME",
          .help = "wall, cpu, calls, allocated, ... [wall, else cpu]"};
}

command::Option RenameOption() {
  return {.names = "--rename",
          .value = "OLD=NEW",
          .help = "A function of OLD with another name in NEW; * is any text",
          .repeats = true};
}

Result<int> PutComparison(ComparedSides sides, const std::string& metric_name,
                          const command::Arguments& arguments) {
  FIELDCOST_TRY(UnifyPrograms(sides));
  FIELDCOST_ASSIGN(const auto difference, tree::Difference(sides.before.mean, sides.after.mean));
  sides.remarks.insert(sides.remarks.end(), difference.remarks.begin(), difference.remarks.end());
  const TreeShow show{.metric = metric_name,
                      .all = arguments.Has("--all"),
                      .svg = arguments.Text("--svg"),
                      .html = arguments.Text("--html"),
                      .depth = arguments.Number("--depth").value_or(0)};
  FIELDCOST_ASSIGN(const std::size_t metric, ChooseMetric(difference.tree.metrics, show.metric));
  FIELDCOST_ASSIGN(const tree::Comparison comparison,
                   CompareSides(sides, difference.tree, difference.tree.metrics[metric]));
  if (const std::string& file = arguments.Text("--output"); !file.empty()) {
    FIELDCOST_TRY(SaveTree(file, tree::EncodeMeanTree(difference.tree)));
  }
  if (!show.html.empty()) {
    FIELDCOST_TRY(WriteDifferencePage(sides,
                                      {.tree = difference.tree,
                                       .metric = metric,
                                       .untrusted_operand = sides.named,
                                       .untrusted_file = "",
                                       .untrusted_remarks = sides.remarks,
                                       .order = sides.order},
                                      show.html));
    // Computes the same exit status with and without a page.
    if (show.html == "-") return ExitStatusOf(comparison);
  }
  FIELDCOST_TRY(
      PrintComparison(comparison, sides, difference.tree, metric, show, OutputOf(arguments)));
  return ExitStatusOf(comparison);
}

}  // namespace fieldcost::cli
