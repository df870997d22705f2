#include "tools/report/tree/tree_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "common/base/check.h"
#include "common/draw/html.h"
#include "common/draw/name_text.h"
#include "common/draw/numbers.h"
#include "common/draw/terminal.h"
#include "tools/report/page_text_style.h"
#include "tools/report/tree/colors.h"
#include "tools/report/tree/flame_layout.h"
#include "tools/report/tree/tree_text.h"

namespace fieldcost::report {
namespace {

using analysis::TreeView;
using analysis::ViewNode;

// The dark background is that of pages.
constexpr std::string_view kDocumentStyle =
    "<style>:root{max-width:100%;height:auto}"
    "@media (prefers-color-scheme:dark){:root{background:#16161a}}</style>\n";
constexpr double kSvgLeastWidth = 0.5;
constexpr unsigned kSvgFrameHeight = 18;
constexpr double kSvgLetterWidth = 7.5;  // in the widest common font

// Black letters have a contrast of at least 8 : 1 on each of them.
constexpr std::array<std::string_view, 6> kModuleColors = {"#ffd9a0", "#ffe58f", "#d9e7a3",
                                                           "#b8e0d2", "#bcd6f2", "#e3cdf0"};
constexpr std::string_view kSpecialColor = "#d4d4d8";

double AsDouble(stats::Uint128 value) { return static_cast<double>(value); }

// A module has the same colour in every picture.
std::string_view ColorOf(const tree::Frame& frame) {
  if (frame.kind == tree::FrameKind::kSpecial) return kSpecialColor;
  std::uint32_t hash = 2166136261U;  // FNV-1a
  for (const char c : frame.module) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return kModuleColors[hash % kModuleColors.size()];
}

class FlameDrawing {
 public:
  FlameDrawing(const TreeView& view, const std::vector<bool>& uncertain)
      : view_(view),
        uncertain_(uncertain),
        widths_(WidthsOf(view)),
        layout_(LayOutFlames(view, widths_, kSvgLeastWidth)) {
    FIELDCOST_CHECK(uncertain.empty() || uncertain.size() == view.nodes.size());
  }

  std::string Svg(std::string_view style) const {
    const unsigned height = (layout_.deepest + 1) * kSvgFrameHeight;
    std::string svg = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-label=\"{0}\" width=\"{1}\" "
        "height=\"{2}\" viewBox=\"0 0 {1} {2}\" font-family=\"sans-serif\" "
        "font-size=\"{3}\">\n<title>{0}</title>\n{4}",
        draw::EscapeHtml(Sentence()), kFlameWidth, height, kFlameFontSize, style);
    if (view_.IsDifference()) {
      svg += fmt::format(
          "<defs><pattern id=\"gone\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
          "patternTransform=\"rotate(45)\"><rect width=\"6\" height=\"6\" fill=\"{}\"/>"
          "<rect width=\"2\" height=\"6\" fill=\"{}\"/></pattern></defs>\n",
          kGoneGround, kGoneStripe);
    }
    for (const FlameBox& box : layout_.boxes) svg += BoxSvg(box);
    return svg + "</svg>\n";
  }

 private:
  std::string Cost(stats::Uint128 sum) const {
    return CostText(static_cast<stats::Int128>(sum), view_.denominator, view_.metric.unit,
                    kPageTextStyle);
  }

  std::string Sentence() const {
    const analysis::ViewValue& all = view_.nodes[0].inclusive;
    return view_.IsDifference()
               ? fmt::format("Flame graph of a difference: {}, {} old, {} new", view_.metric.name,
                             Cost(all.before), Cost(all.after))
               : fmt::format("Flame graph: {}, {} a run", view_.metric.name, Cost(all.after));
  }

  std::string Name(std::size_t i) const {
    return i == 0 ? "all" : analysis::NameOf(view_.frame(view_.nodes[i]));
  }

  std::string Title(std::size_t i) const {
    const ViewNode& node = view_.nodes[i];
    const std::string name = draw::ShortenName(Name(i), kMaxFlameTitleColumns, kPageTextStyle);
    if (!view_.IsDifference()) {
      return fmt::format("{}: {}, {}; itself {}", name, Cost(node.inclusive.after),
                         draw::ShareText(node.inclusive.after, view_.nodes[0].inclusive.after),
                         Cost(node.self.after));
    }
    const std::string_view what = node.where == tree::kInAfter    ? ", new"
                                  : node.where == tree::kInBefore ? ", gone"
                                  : IsUncertain(i)                ? ", not certain"
                                                                  : "";
    const stats::Int128 change = node.inclusive.Change();
    return fmt::format("{}: {} old, {} new, {}{}{}", name, Cost(node.inclusive.before),
                       Cost(node.inclusive.after), change > 0 ? "+" : "",
                       CostText(change, view_.denominator, view_.metric.unit, kPageTextStyle),
                       what);
  }

  bool IsUncertain(std::size_t i) const { return !uncertain_.empty() && uncertain_[i]; }

  std::string_view FillOf(std::size_t i) const {
    const ViewNode& node = view_.nodes[i];
    if (!view_.IsDifference()) return i == 0 ? kSpecialColor : ColorOf(view_.frame(node));
    if (node.where == tree::kInBefore) return "url(#gone)";
    if (IsUncertain(i)) return kUncertainColor;
    const stats::Int128 change = node.inclusive.Change();
    const double part = std::abs(static_cast<double>(change)) / AsDouble(widths_[i]);
    std::string_view color = kSameColor;
    for (const Heat& heat : kHeat) {
      if (part >= heat.least_part) color = change > 0 ? heat.more : heat.less;
    }
    return color;
  }

  std::string BoxSvg(const FlameBox& box) const {
    const ViewNode& node = view_.nodes[box.node];
    const unsigned top = node.depth * kSvgFrameHeight;
    const bool is_new = view_.IsDifference() && node.where == tree::kInAfter;
    std::string svg = fmt::format(
        "<g><title>{}</title><rect x=\"{:.1f}\" y=\"{}\" width=\"{:.1f}\" height=\"{}\" "
        "fill=\"{}\"{}/>",
        draw::EscapeHtml(Title(box.node)), box.left, top, box.width, kSvgFrameHeight - 1,
        FillOf(box.node), is_new ? " stroke=\"#111\" stroke-width=\"1\"" : "");
    const std::string label = FlameLabel(box, "", Name(box.node), kSvgLetterWidth);
    if (!label.empty()) {
      svg += fmt::format("<text x=\"{:.1f}\" y=\"{}\" fill=\"#111\">{}</text>", box.left + 3,
                         top + kSvgFrameHeight - 5, label);
    }
    return svg + "</g>\n";
  }

  const TreeView& view_;
  const std::vector<bool>& uncertain_;
  const std::vector<stats::Uint128> widths_;
  const FlameLayout layout_;
};

}  // namespace

std::vector<stats::Uint128> WidthsOf(const TreeView& view) {
  std::vector<stats::Uint128> widths(view.nodes.size());
  for (std::size_t i = view.nodes.size(); i-- > 0;) {
    widths[i] += view.nodes[i].self.Greater();
    if (i != 0) widths[view.nodes[i].parent] += widths[i];
  }
  return widths;
}

std::string TreeSvg(const TreeView& view, const std::vector<bool>& uncertain) {
  return FlameDrawing(view, uncertain).Svg(kDocumentStyle);
}

std::string TreeSvgInPage(const TreeView& view, const std::vector<bool>& uncertain) {
  return FlameDrawing(view, uncertain).Svg("");
}

}  // namespace fieldcost::report
