#include "tools/report/tree/flame_page.h"

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
#include "tools/report/freshness_text.h"
#include "tools/report/page.h"
#include "tools/report/tree/checked_tree.h"
#include "tools/report/tree/text.h"

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

class FlameGraph {
 public:
  explicit FlameGraph(const FlamePageContent& content)
      : content_(content),
        view_(*content.view),
        checked_(Highlight(view_, *content.report)),
        names_(*content.report, FrameNames::Which::kAll),
        all_(static_cast<double>(view_.nodes[0].inclusive.after)) {
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
        Share(checked_.flagged_total));
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
      table.lines.push_back(
          {NameHtml(stats::DemangledName(api->key.api.symbol), "", api->key.api.soname),
           draw::EscapeHtml(Share(total)), fmt::format("{:.1f} ×", api->comparison.ratio),
           fmt::format("{:.2g}", api->comparison.q)});
    }
    return table;
  }

 private:
  struct Frame {
    std::size_t node = 0;
    unsigned depth = 0;
    double left = 0;
    double width = 0;
  };
  using Total = std::pair<const CheckedApi*, stats::Uint128>;

  void Place() {
    if (all_ == 0) return;
    std::vector<double> left(view_.nodes.size());
    std::vector<double> next(view_.nodes.size());  // where the next child begins
    for (std::size_t i = 0; i < view_.nodes.size(); ++i) {
      const analysis::ViewNode& node = view_.nodes[i];
      const double width = static_cast<double>(node.inclusive.after) / all_ * kWidth;
      if (i != 0) {
        left[i] = next[node.parent];
        next[node.parent] += width;
      }
      next[i] = left[i];
      if (i != 0 && width < kLeastWidth) continue;
      deepest_ = std::max(deepest_, node.depth);
      frames_.push_back({.node = i, .depth = node.depth, .left = left[i], .width = width});
    }
  }

  std::string FrameSvg(const Frame& frame, unsigned height) const {
    const bool is_root = frame.node == 0;
    const analysis::ViewNode& node = view_.nodes[frame.node];
    const std::string name = is_root ? "all" : analysis::NameOf(view_.frame(node));
    const CheckedApi* api = is_root ? nullptr : names_.Find(view_.frame(node));
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

  static std::string Label(const std::string& name, const CheckedApi* api, bool worse) {
    if (api == nullptr || !api->comparison.eligible()) return name;
    return fmt::format("{}{:.1f}× {}", worse ? "! " : "", api->comparison.ratio, name);
  }

  std::string Title(std::size_t index, const std::string& name, const CheckedApi* api) const {
    const analysis::ViewNode& node = view_.nodes[index];
    std::string title =
        fmt::format("{}: {}, {}; itself {}", draw::Shorten(name, kMaxTitleColumns, kStyle),
                    Share(node.inclusive.after),
                    CostText(static_cast<stats::Int128>(node.inclusive.after), view_.denominator,
                             view_.metric.unit, kStyle),
                    Share(node.self.after));
    if (index == 0) return title;
    if (api == nullptr) return title + "; the field does not know it";
    if (!api->comparison.eligible()) return title + "; " + analysis::Lack(*api);
    return title + fmt::format("; {:.2f} × the field, {}, q {:.2g}", api->comparison.ratio,
                               stats::Name(api->comparison.verdict), api->comparison.q);
  }

  std::string Share(stats::Uint128 value) const {
    return draw::RoughShareText(all_ == 0 ? 0 : static_cast<double>(value) / all_);
  }

  std::vector<Total> Totals() const {
    std::vector<Total> totals;
    for (std::size_t i = 1; i < view_.nodes.size(); ++i) {
      const CheckedApi* api = checked_.nodes[i].flagged;
      if (api == nullptr || IsInside(i, api)) continue;
      const auto place = std::ranges::find(totals, api, &Total::first);
      if (place == totals.end()) {
        totals.emplace_back(api, view_.nodes[i].inclusive.after);
      } else {
        place->second += view_.nodes[i].inclusive.after;
      }
    }
    std::ranges::stable_sort(totals, std::greater(), &Total::second);
    return totals;
  }

  bool IsInside(std::size_t node, const CheckedApi* api) const {
    while (node != 0) {
      node = view_.nodes[node].parent;
      if (checked_.nodes[node].flagged == api) return true;
    }
    return false;
  }

  const FlamePageContent& content_;
  const analysis::TreeView& view_;
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
    html += fmt::format("<p class=\"warn\">{}</p>\n", kSyntheticWords);
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
