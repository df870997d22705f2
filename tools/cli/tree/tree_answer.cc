#include "tools/cli/tree/tree_answer.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "common/base/text.h"
#include "common/draw/numbers.h"
#include "common/tree/codec.h"
#include "tools/analysis/tree_view.h"
#include "tools/cli/common_options.h"
#include "tools/cli/terminal/page_file.h"
#include "tools/cli/terminal/pager.h"
#include "tools/cli/terminal/terminal_io.h"
#include "tools/cli/tree/timeline.h"
#include "tools/cli/tree/tree_json.h"
#include "tools/exchange/exchange.h"
#include "tools/report/tree/tree_page.h"
#include "tools/report/tree/tree_svg.h"
#include "tools/report/tree/tree_text.h"

namespace fieldcost::cli {
namespace {

constexpr std::size_t kFlatRows = 40;

Result<analysis::TreeView> ViewOf(const tree::MeanTree& mean, std::size_t metric,
                                  const TreeShow& show) {
  if (!show.callers.empty()) return analysis::CallersOf(mean, metric, show.callers);
  if (!show.callees.empty()) return analysis::CalleesOf(mean, metric, show.callees);
  if (show.bottom_up) return analysis::BottomUp(mean, metric);
  if (show.flat && show.by_thread) return analysis::FlatByFirst(mean, metric);
  if (show.flat) return analysis::Flat(mean, metric);
  return analysis::TopDown(mean, metric);
}

// "wall of 3 runs, 1.2 s a run (sampled)", or both sides of a difference. `callees`: the functions
// whose callees are shown, or empty.
std::string Heading(const analysis::TreeView& view, const std::string& callees,
                    const draw::Style& style) {
  const analysis::ViewValue& all = view.nodes[0].inclusive;
  const auto cost = [&](stats::Uint128 sum) {
    return report::CostText(static_cast<stats::Int128>(sum), view.denominator, view.metric.unit,
                            style);
  };
  const auto runs = [](std::uint64_t count) { return Counted(count, "run"); };
  const std::string how =
      (callees.empty() ? "" : ", in " + EscapeControl(callees) + " and what it calls") +
      (view.metric.sampled() ? " (sampled)" : "");
  if (view.IsDifference()) {
    return fmt::format("{} a run: old {} of {}, new {} of {}{}\n", view.metric.name,
                       cost(all.before), runs(view.runs_before), cost(all.after),
                       runs(view.runs_after), how);
  }
  return fmt::format("{} of {}: {} a run{}\n", view.metric.name, runs(view.runs_after),
                     cost(all.after), how);
}

Status WriteTreePage(const tree::MeanTree& mean, std::size_t metric,
                     const std::vector<std::string>& remarks, const TreeShow& show) {
  FIELDCOST_TRY(CheckPageSize(mean));
  report::TreePage page{.tree = mean,
                        .metric = metric,
                        .untrusted_operand = show.named,
                        .untrusted_file = show.operand.file.string(),
                        .untrusted_remarks = remarks};
  if (show.recording != nullptr && AreMerged(*show.recording)) {
    page.untrusted_remarks.push_back(
        "No timeline: samples divide what events measured, which differs from interval to "
        "interval. Use RECORDING@FROM..TO for part of the time.");
  } else if (show.recording != nullptr) {
    FIELDCOST_ASSIGN(page.timeline, LoadTimeline(*show.recording, show.operand, mean.metrics));
  }
  return WritePage(show.html, report::TreePageHtml(page), PageOf::kOwn);
}

}  // namespace

command::Option TreePageOption() {
  command::Option option = HtmlOption("Write an HTML page to FILE (- = stdout)");
  option.excludes = {"--svg"};
  return option;
}

command::Option RecordingOperand(std::string_view name, std::string_view value) {
  return {.names = name,
          .value = value,
          .help =
              "A recording of `fieldcost trace` or a `tree` command; RECORDING@FROM..TO "
              "for part of its time",
          .completes = command::Completes::kFiles,
          .required = true};
}

command::Option DivideByOption() {
  return {.names = "--by",
          .value = "WHAT",
          .help = "Divide by what ran: each is the root of its own calls",
          .choices = {"thread", "process"}};
}

Result<TreeOperand> OperandOf(std::string_view text, const command::Arguments& arguments,
                              bool by_name) {
  FIELDCOST_ASSIGN(TreeOperand operand, ParseTreeOperand(text));
  operand.by = DivideByOf(arguments.Text("--by"));
  operand.by_name = by_name;
  return operand;
}

command::Option TreeOutputOption() {
  return {.names = "--output,-o",
          .value = "FILE",
          .help = "Write the tree to FILE instead of showing it",
          .completes = command::Completes::kFiles};
}

Status CheckTreePage(const command::Arguments& arguments) {
  return CheckPageOption(arguments, "--html");
}

void AddTreeShowOptions(command::Command& command) {
  command::Option page = TreePageOption();
  page.excludes.insert(page.excludes.end(), {"--callers", "--callees", "--flat", "--bottom-up"});
  const std::vector<command::Option> options = {
      {.names = "--metric",
       .value = "NAME",
       .help = "A metric that was recorded: wall, cpu, calls, allocated, ... [wall, else cpu]"},
      DivideByOption(),
      {.names = "--callers",
       .value = "GLOB",
       .help = "Show the callers of these functions (function, or module!function)",
       .check = command::CheckNotEmpty,
       .excludes = {"--callees", "--flat", "--bottom-up"}},
      {.names = "--callees",
       .value = "GLOB",
       .help = "Show these functions and once each function that they call, directly or not, with "
               "its share of their cost",
       .check = command::CheckNotEmpty,
       .excludes = {"--flat", "--bottom-up", "--depth", "--svg"}},
      {.names = "--bottom-up",
       .help = "List functions by their own cost, with callers below",
       .excludes = {"--flat"}},
      {.names = "--flat", .help = "List each function once"},
      {.names = "--depth",
       .value = "N",
       .help = "At most N levels deep",
       .check = command::CheckNumber},
      LimitOption("With --flat and --callees: at most N functions; 0 = all"),
      {.names = "--svg",
       .value = "FILE",
       .help = "Write a flame graph to FILE (- = stdout)",
       .completes = command::Completes::kFiles},
      page,
      {.names = "--all", .help = "Include what costs less than 0.5 % of the total"}};
  command.options.insert(command.options.end(), options.begin(), options.end());
  command.check = CheckTreePage;
}

TreeShow TreeShowOf(const command::Arguments& arguments) {
  return {.metric = arguments.Text("--metric"),
          .callers = arguments.Text("--callers"),
          .callees = arguments.Text("--callees"),
          .bottom_up = arguments.Has("--bottom-up"),
          .flat = arguments.Has("--flat"),
          .by_thread = arguments.Has("--by"),
          .all = arguments.Has("--all"),
          .svg = arguments.Text("--svg"),
          .html = arguments.Text("--html"),
          .depth = arguments.Number("--depth").value_or(0),
          .limit = arguments.Number("--limit").value_or(kFlatRows)};
}

Result<std::size_t> ChooseMetric(const std::vector<tree::Metric>& metrics,
                                 const std::string& name) {
  if (metrics.empty()) return Fail(ErrorCode::kNotFound, "it has no measurements");
  if (name.empty()) return exchange::MainMetric(metrics);
  if (const auto found = tree::FindMetric(metrics, name)) return *found;
  std::vector<std::string> names;
  for (const tree::Metric& metric : metrics) names.push_back(metric.name);
  return Fail(ErrorCode::kNotFound, "{} was not measured; available: {}", EscapeControl(name),
              fmt::join(names, ", "));
}

Status CheckPageSize(const tree::MeanTree& mean) {
  if (mean.paths().size() <= kMaxPagePaths) return {};
  return Fail(ErrorCode::kTooLarge, "{} paths are too many for a page (at most {}); use --svg",
              draw::FormatCount(mean.paths().size()), draw::FormatCount(kMaxPagePaths));
}

Status PrintTree(const tree::MeanTree& mean, const std::vector<std::string>& remarks,
                 const TreeShow& show, const Output& output) {
  FIELDCOST_ASSIGN(const std::size_t metric, ChooseMetric(mean.metrics, show.metric));
  if (!show.html.empty()) return WriteTreePage(mean, metric, remarks, show);
  FIELDCOST_ASSIGN(const analysis::TreeView view, ViewOf(mean, metric, show));
  if (!show.svg.empty()) return WritePage(show.svg, report::TreeSvg(view, {}), PageOf::kOwn);
  if (output.json) return WriteStdout(TreeJson(view, remarks));
  if (output.csv) return WriteStdout(report::TreeCsv(view));
  for (const std::string& remark : remarks) Remark(EscapeControl(remark));
  const report::TreeTextOptions options{.least_share = show.all ? 0 : 0.005,
                                        .max_depth = show.depth,
                                        .max_rows = show.all ? 0 : show.limit};
  const std::string text = show.flat ? report::FlatText(view, options, output.style)
                           : !show.callees.empty()
                               ? report::CalleesText(view, options, output.style)
                               : report::TreeText(view, {}, options, output.style);
  return WritePaged(Heading(view, show.callees, output.style) + text, output);
}

Status PutTree(const tree::Tree& tree, const std::vector<std::string>& remarks,
               const command::Arguments& arguments, const TreeShow& show) {
  const std::string& file = arguments.Text("--output");
  if (file.empty()) {
    FIELDCOST_ASSIGN(const tree::MeanTree mean, tree::Average(tree));
    return PrintTree(mean, remarks, show, OutputOf(arguments));
  }
  for (const std::string& remark : remarks) Remark(EscapeControl(remark));
  return SaveTree(file, tree::EncodeTree(tree));
}

}  // namespace fieldcost::cli
