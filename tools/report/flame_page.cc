#include "tools/report/flame_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "common/draw/html.h"
#include "common/draw/numbers.h"
#include "common/draw/terminal.h"
#include "common/stats/cxx_name.h"
#include "tools/analysis/namespace_of.h"
#include "tools/report/checked_tree.h"
#include "tools/report/page.h"
#include "tools/report/vendor_text.h"

namespace fieldcost::report {
namespace {

using analysis::CheckedApi;
using stats::Verdict;

constexpr draw::Style kStyle{.utf8 = true};
// In user units, which are CSS pixels at the drawing's natural size.
constexpr double kWidth = 1200;
constexpr double kLeastWidth = 1;
constexpr unsigned kFrameHeight = 20;
constexpr unsigned kFontSize = 12;
constexpr double kLetterWidth = 8;  // of the widest usual font
constexpr std::size_t kLeastLetters = 3;
constexpr std::size_t kMaxTitleColumns = 240;  // of a name
constexpr std::size_t kMaxListed = 20;         // APIs in the table

// From what ratio on; dark letters are readable on all.
struct Heat {
  double least_ratio;
  std::string_view color;
  std::string_view words;
};
constexpr std::string_view kUnknownColor = "#c4c4cc";
constexpr std::array<Heat, 4> kHeat = {{{0, "#dbe7f6", "as in the field, or cheaper"},
                                        {1.25, "#ffd95e", "1.25 × or more"},
                                        {2, "#ff9f43", "2 × or more"},
                                        {4, "#f0563d", "4 × or more"}}};

std::string_view ColorOf(const CheckedApi* api) {
  if (api == nullptr || !api->comparison.eligible()) return kUnknownColor;
  std::string_view color;
  for (const Heat& heat : kHeat) {
    if (api->comparison.ratio >= heat.least_ratio) color = heat.color;
  }
  return color;
}

std::string NameOf(std::string_view untrusted_frame) {
  return stats::DemangledName(untrusted_frame);
}

class FlameGraph {
 public:
  explicit FlameGraph(const FlamePageContent& content)
      : content_(content),
        tree_(*content.tree),
        checked_(Highlight(tree_, *content.report)),
        names_(*content.report, FrameNames::Which::kAll),
        all_(static_cast<double>(tree_.nodes()[0].total)) {
    Place();
  }

  std::string Svg() const {
    const unsigned height = (deepest_ + 1) * kFrameHeight;
    std::string svg = fmt::format(
        "<svg role=\"img\" aria-label=\"Flame graph: {0}\" width=\"{1}\" height=\"{2}\" "
        "viewBox=\"0 0 {1} {2}\">\n",
        draw::EscapeHtml(Sentence()), kWidth, height);
    for (const Frame& frame : frames_) svg += FrameSvg(frame, height);
    return svg + "</svg>\n";
  }

  std::string Sentence() const {
    return fmt::format(
        "{} of {} APIs that are worse than the field are in this profile, with {} of it",
        checked_.worse_seen, content_.report->Count(Verdict::kWorse),
        ShareText(all_ == 0 ? 0 : static_cast<double>(checked_.flagged_total) / all_));
  }

  // What is worse, the most expensive first, recursion once.
  PageTable Worse() const {
    using enum ColumnKind;
    PageTable table{
        .id = "worse",
        .title = "Worse than the field",
        .caption = "Share: of this profile, with what they call.",
        .columns = {{"API", kName}, {"Share", kNumber}, {"To the field", kNumber}, {"q", kNumber}},
        .lines = {}};
    for (const auto& [api, total] : Totals()) {
      if (table.lines.size() == kMaxListed) break;
      table.lines.push_back({NameHtml(NameOf(api->key.api.symbol), "", api->key.api.soname),
                             draw::EscapeHtml(ShareText(static_cast<double>(total) / all_)),
                             fmt::format("{:.1f} ×", api->comparison.ratio),
                             fmt::format("{:.2g}", api->comparison.q)});
    }
    return table;
  }

 private:
  struct Frame {
    std::uint32_t node = 0;
    unsigned depth = 0;
    double left = 0;
    double width = 0;
  };
  using Total = std::pair<const CheckedApi*, std::uint64_t>;

  // The order is parents first, so a parent has its place before its children ask for theirs.
  void Place() {
    if (all_ == 0) return;
    std::vector<Frame> places(tree_.nodes().size());
    std::vector<double> next(tree_.nodes().size());  // where the next child begins
    places[0] = {.node = 0, .depth = 0, .left = 0, .width = kWidth};
    frames_.push_back(places[0]);
    for (const std::uint32_t node : checked_.order) {
      const std::uint32_t parent = tree_.nodes()[node].parent;
      const double width = static_cast<double>(tree_.nodes()[node].total) / all_ * kWidth;
      places[node] = {
          .node = node, .depth = places[parent].depth + 1, .left = next[parent], .width = width};
      next[node] = next[parent];
      next[parent] += width;
      if (width < kLeastWidth) continue;
      deepest_ = std::max(deepest_, places[node].depth);
      frames_.push_back(places[node]);
    }
  }

  std::string FrameSvg(const Frame& frame, unsigned height) const {
    const bool is_root = frame.node == 0;
    const std::string name =
        is_root ? "all" : NameOf(tree_.untrusted_name(tree_.nodes()[frame.node]));
    const CheckedApi* api = is_root ? nullptr : names_.Find(RawName(frame.node));
    const unsigned top = height - (frame.depth + 1) * kFrameHeight;
    const bool worse = !is_root && checked_.nodes[frame.node].flagged != nullptr;
    std::string svg = fmt::format(
        "<rect x=\"{:.1f}\" y=\"{}\" width=\"{:.1f}\" height=\"{}\" fill=\"{}\"{}><title>{}</title>"
        "</rect>",
        frame.left, top, frame.width, kFrameHeight - 1, ColorOf(api),
        worse ? " class=\"worse\"" : "", draw::EscapeHtml(Title(frame.node, name, api)));
    const auto letters = static_cast<std::size_t>(std::max(0.0, frame.width - 6) / kLetterWidth);
    if (letters >= kLeastLetters) {
      svg += fmt::format("<text x=\"{:.1f}\" y=\"{}\" font-size=\"{}\">{}</text>", frame.left + 3,
                         top + kFrameHeight - 6, kFontSize,
                         draw::EscapeHtml(draw::Shorten(Label(name, api, worse), letters, kStyle)));
    }
    return svg + "\n";
  }

  const std::string& RawName(std::uint32_t node) const {
    return tree_.untrusted_name(tree_.nodes()[node]);
  }

  static std::string Label(const std::string& name, const CheckedApi* api, bool worse) {
    if (api == nullptr || !api->comparison.eligible()) return name;
    return fmt::format("{}{:.1f}× {}", worse ? "! " : "", api->comparison.ratio, name);
  }

  std::string Title(std::uint32_t index, const std::string& name, const CheckedApi* api) const {
    const analysis::StackTree::Node& node = tree_.nodes()[index];
    std::string title = fmt::format(
        "{}: {}, {}{}{}; itself {}", draw::Shorten(name, kMaxTitleColumns, kStyle),
        Share(node.total), draw::FormatCount(node.total),
        content_.untrusted_unit.empty() ? "" : " ", content_.untrusted_unit, Share(node.self));
    if (index == 0) return title;
    if (api == nullptr) return title + "; the field does not know it";
    if (!api->comparison.eligible()) return title + "; " + analysis::Lack(*api);
    return title + fmt::format("; {:.2f} × the field, {}, q {:.2g}", api->comparison.ratio,
                               stats::Name(api->comparison.verdict), api->comparison.q);
  }

  std::string Share(std::uint64_t value) const {
    return ShareText(all_ == 0 ? 0 : static_cast<double>(value) / all_);
  }

  std::vector<Total> Totals() const {
    std::vector<Total> totals;
    for (std::uint32_t i = 1; i < tree_.nodes().size(); ++i) {
      const CheckedApi* api = checked_.nodes[i].flagged;
      if (api == nullptr || IsInside(i, api)) continue;
      const auto place = std::ranges::find(totals, api, &Total::first);
      if (place == totals.end()) {
        totals.emplace_back(api, tree_.nodes()[i].total);
      } else {
        place->second += tree_.nodes()[i].total;
      }
    }
    std::ranges::stable_sort(totals, std::greater(), &Total::second);
    return totals;
  }

  bool IsInside(std::uint32_t node, const CheckedApi* api) const {
    while (node != 0) {
      node = tree_.nodes()[node].parent;
      if (checked_.nodes[node].flagged == api) return true;
    }
    return false;
  }

  const FlamePageContent& content_;
  const analysis::StackTree& tree_;
  const CheckedTree checked_;
  const FrameNames names_;
  const double all_;
  std::vector<Frame> frames_;
  unsigned deepest_ = 0;
};

std::string Legend() {
  constexpr unsigned kSide = 14;
  const auto swatch = [&](std::string_view color, std::string_view words) {
    return fmt::format(
        "<svg role=\"img\" aria-label=\"{2}\" width=\"{0}\" height=\"{0}\" viewBox=\"0 0 {0} "
        "{0}\"><rect x=\"0\" y=\"0\" width=\"{0}\" height=\"{0}\" fill=\"{1}\"/></svg> {2} ",
        kSide, color, words);
  };
  std::string html = "<p>" + swatch(kUnknownColor, "not known to the field, or too little data");
  for (const Heat& heat : kHeat) html += swatch(heat.color, heat.words);
  return html +
         "</p>\n<p class=\"soft\">! and a thick line: worse than the field. "
         "Width: share of the profile; callers are below. Point at a frame for its "
         "numbers.</p>\n";
}

}  // namespace

std::string FlamePage(const FlamePageContent& content) {
  const FlameGraph graph(content);
  std::string html = PageBegin("fieldcost: flame graph of " + content.untrusted_name);
  html += fmt::format("<header>\n<h1>Flame graph of {}</h1>\n",
                      draw::EscapeHtml(content.untrusted_name));
  if (content.synthetic) {
    html += "<p class=\"warn\">SYNTHETIC: it is compared with made-up data.</p>\n";
  }
  html += fmt::format("<p class=\"lead\">{}.</p>\n</header>\n<main>\n{}",
                      draw::EscapeHtml(graph.Sentence()), Legend());
  html += fmt::format(
      "<div class=\"flame\" role=\"region\" aria-label=\"Flame graph\" "
      "tabindex=\"0\">\n{}</div>\n",
      graph.Svg());
  const PageTable worse = graph.Worse();
  if (!worse.lines.empty()) html += SectionHtml(worse);
  return html + "</main>\n" + PageEnd();
}

}  // namespace fieldcost::report
