// `fieldcost idle show`: a recording of idle CPUs as text, JSON, page or export.
#include <fmt/format.h>

#include <algorithm>

#include "common/base/file.h"
#include "common/base/text.h"
#include "common/tree/mean_tree.h"
#include "tools/analysis/idle_timeline.h"
#include "tools/analysis/tree_view.h"
#include "tools/cli/cli_commands.h"
#include "tools/cli/idle/idle_json.h"
#include "tools/cli/idle/idle_recording.h"
#include "tools/cli/terminal/page_file.h"
#include "tools/cli/terminal/pager.h"
#include "tools/cli/terminal/terminal_io.h"
#include "tools/cli/tree/tree_answer.h"
#include "tools/exchange/exchange.h"
#include "tools/report/idle/idle_page.h"
#include "tools/report/idle/idle_text.h"
#include "tools/report/tree/tree_text.h"

namespace fieldcost::cli {
namespace {

constexpr std::size_t kShown = 10;        // stacks and pairs shown if all sides are
constexpr std::size_t kShownOfSide = 40;  // the same if only one side is shown
constexpr double kNoShare = 2;            // a share above 1, which nothing reaches

Result<analysis::TreeView> ViewOf(const LoadedIdle& loaded, const IdleSide& side) {
  FIELDCOST_ASSIGN(const tree::Tree tree, SideTree(loaded, side));
  FIELDCOST_ASSIGN(const tree::MeanTree mean, tree::Average(tree));
  return analysis::TopDown(mean, *tree::FindMetric(mean.metrics, side.metrics[0]));
}

// Marks the nodes that are, or lead to, the stacks with the highest self cost. 0: all.
std::vector<bool> HeaviestOf(const analysis::TreeView& view, std::size_t most) {
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 1; i < view.nodes.size(); ++i) {
    if (view.nodes[i].self.after != 0) order.push_back(i);
  }
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [&](std::uint32_t i) { return view.nodes[i].self.after; });
  if (most != 0 && order.size() > most) order.resize(most);
  std::vector<bool> kept(view.nodes.size());
  for (std::uint32_t at : order) {
    for (; at != 0 && !kept[at]; at = view.nodes[at].parent) kept[at] = true;
  }
  return kept;
}

Result<std::string> TreeTextOf(const LoadedIdle& loaded, const IdleSide& side, std::size_t most,
                               const draw::Style& style) {
  FIELDCOST_ASSIGN(const analysis::TreeView view, ViewOf(loaded, side));
  if (view.nodes[0].inclusive.after == 0) return "(no idle time is explained by a stack)\n";
  return report::TreeText(view, {}, {.least_share = kNoShare, .kept = HeaviestOf(view, most)},
                          style);
}

Result<std::string> SideText(const LoadedIdle& loaded, const IdleSide& side, std::size_t most,
                             const draw::Style& style) {
  if (side.name == kCpusSide.name) return report::IdleCpusText(loaded.view, style);
  if (side.name == kPairsSide.name) return report::IdleChainsText(loaded.view, most, style);
  return TreeTextOf(loaded, side, most, style);
}

Result<std::string> WholeText(const LoadedIdle& loaded, std::size_t most,
                              const draw::Style& style) {
  struct Part {
    std::string_view heading;
    const IdleSide& side;
  };
  std::string text = report::IdleHeading(loaded.view, style);
  for (const auto& [heading, side] :
       {Part{"", kCpusSide}, Part{"What left CPUs idle, and why:\n", kToSide},
        Part{"What ended that, and what it had waited for:\n", kFromSide},
        Part{"Both, with the waker:\n", kPairsSide}}) {
    const Result<std::string> part = SideText(loaded, side, most, style);
    if (!part && part.error().code == ErrorCode::kNotFound) continue;
    if (!part) return part;
    text += fmt::format("\n{}{}", heading, *part);
  }
  return draw::WrapLines(text, style);
}

Status PrintJson(const LoadedIdle& loaded) {
  const Result<analysis::TreeView> to = ViewOf(loaded, kToSide);
  const Result<analysis::TreeView> from = ViewOf(loaded, kFromSide);
  for (const auto* const view : {&to, &from}) {
    if (!*view && view->error().code != ErrorCode::kNotFound) return Error(view->error());
  }
  return WriteStdout(
      IdleJson(loaded.view, to ? &*to : nullptr, from ? &*from : nullptr, loaded.recorded.remarks));
}

Status PutExport(const LoadedIdle& loaded, const IdleSide& side, exchange::Format format,
                 const std::string& file) {
  FIELDCOST_ASSIGN(const tree::Tree tree, SideTree(loaded, side));
  FIELDCOST_ASSIGN(const exchange::Exported exported,
                   exchange::Export(tree, format,
                                    {.title = loaded.operand.file.filename().string(),
                                     .metric = std::string(side.metrics[0])}));
  for (const std::string& remark : exported.remarks) Remark(EscapeControl(remark));
  if (file == kStdout) return WriteStdout(exported.bytes);
  return WriteFileAtomically(file, exported.bytes, kPrivateFileMode);
}

Result<std::optional<tree::MeanTree>> SideMean(const LoadedIdle& loaded, const IdleSide& side) {
  const Result<tree::Tree> tree = SideTree(loaded, side);
  if (!tree && tree.error().code == ErrorCode::kNotFound) return std::optional<tree::MeanTree>();
  if (!tree) return Error(tree.error());
  FIELDCOST_ASSIGN(tree::MeanTree mean, tree::Average(*tree));
  FIELDCOST_TRY(CheckPageSize(mean));
  return std::optional(std::move(mean));
}

Status PutPage(const LoadedIdle& loaded, const command::Arguments& arguments) {
  report::IdlePage page{.view = loaded.view,
                        .untrusted_operand = arguments.Text("recording"),
                        .untrusted_remarks = loaded.recorded.remarks};
  if (loaded.operand.interval) page.begin_ns = loaded.operand.interval->from_ns;
  FIELDCOST_ASSIGN(page.timeline,
                   analysis::MakeIdleTimeline(*loaded.recording,
                                              PartsOf(*loaded.recording, loaded.operand.interval),
                                              report::kIdlePageBins));
  FIELDCOST_ASSIGN(page.to, SideMean(loaded, kToSide));
  FIELDCOST_ASSIGN(page.from, SideMean(loaded, kFromSide));
  return WritePage(arguments.Text("--html"), report::IdlePageHtml(page), PageOf::kOwn);
}

Status Put(const LoadedIdle& loaded, const command::Arguments& arguments) {
  const Output output = OutputOf(arguments);
  if (output.json) return PrintJson(loaded);
  if (arguments.Has("--html")) return PutPage(loaded, arguments);
  for (const std::string& remark : loaded.recorded.remarks) Remark(EscapeControl(remark));
  const bool has_side = arguments.Has("--side");
  const IdleSide& side = has_side ? FindIdleSide(arguments.Text("--side")) : kToSide;
  if (arguments.Has("--folded")) {
    return PutExport(loaded, side, exchange::Format::kFolded, kStdout);
  }
  if (const std::string& file = arguments.Text("--pprof"); !file.empty()) {
    return PutExport(loaded, side, exchange::Format::kPprof, file);
  }
  const std::size_t most = arguments.Number("--top").value_or(has_side ? kShownOfSide : kShown);
  FIELDCOST_ASSIGN(const std::string text, has_side ? SideText(loaded, side, most, output.style)
                                                    : WholeText(loaded, most, output.style));
  return WritePaged(text, output);
}

Result<int> RunIdleShow(const command::Arguments& arguments) {
  FIELDCOST_ASSIGN(const LoadedIdle loaded, LoadIdle(arguments.Text("recording")));
  FIELDCOST_TRY(Put(loaded, arguments));
  return 0;
}

Status Check(const command::Arguments& arguments) {
  for (const std::string_view option : {"--folded", "--pprof", "--html"}) {
    FIELDCOST_TRY(CheckPageOption(arguments, option));
  }
  return {};
}

}  // namespace

command::Command IdleShowCommand() {
  command::Option recording = RecordingOperand();
  recording.help = "A recording of `fieldcost idle`; RECORDING@FROM..TO for part of its time";
  return {
      .name = "show",
      .summary = "Why CPUs were idle, and what woke them",
      .help =
          R"(Shows how it was recorded; per-CPU idle time compared with /proc/stat, and why; the stacks that left
CPUs idle, those that ended it, and both as chains:

  idle <- lock: app!Take() <- sleep: app!Hold() <- woken by [interrupt]

A CPU was idle from when Take() waited for a lock until Hold() ran there, which had slept and was
woken by a timer. Several runs are shown together. --json has everything. Examples:
  fieldcost idle show a.fct
  fieldcost idle show a.fct@12s..14.5s --side pairs --top 20
  fieldcost idle show a.fct --html a.html
  fieldcost idle show a.fct --side from --folded | flamegraph.pl > a.svg
  fieldcost idle show a.fct --json | jq .pairs[0].chain)",
      .options = {std::move(recording),
                  {.names = "--side",
                   .value = "SIDE",
                   .help = "Show only this: CPUs, stacks that left them idle (to) or ended it "
                           "(from), or both [everything; with --folded and --pprof: to]",
                   .choices = {"cpus", "to", "from", "pairs"}},
                  {.names = "--top",
                   .value = "N",
                   .help = "At most N stacks and pairs; 0 = all [10; of one side 40]",
                   .check = command::CheckNumber},
                  {.names = "--folded",
                   .help = "Print folded stacks, for flame graph tools",
                   .excludes = {"--pprof", "--html"}},
                  {.names = "--pprof",
                   .value = "FILE",
                   .help = "Write a pprof profile to FILE (- = stdout)",
                   .completes = command::Completes::kFiles,
                   .excludes = {"--html"}},
                  HtmlOption("Write an HTML page to FILE (- = stdout)")},
      .handler = RunIdleShow,
      .without = {"--csv"},
      .check = Check};
}

}  // namespace fieldcost::cli
