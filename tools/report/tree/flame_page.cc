#include "tools/report/tree/flame_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "common/draw/html.h"
#include "common/draw/name_text.h"
#include "common/draw/numbers.h"
#include "common/draw/terminal.h"
#include "common/names/cxx_name.h"
#include "tools/analysis/namespace_of.h"
#include "tools/report/freshness_text.h"
#include "tools/report/page.h"
#include "tools/report/page_text_style.h"
#include "tools/report/tree/checked_tree.h"
#include "tools/report/tree/colors.h"
#include "tools/report/tree/flame_layout.h"
#include "tools/report/tree/tree_text.h"

namespace fieldcost::report {
namespace {

using analysis::CheckedApi;
using inference::Verdict;

constexpr double kLeastWidth = 1;
constexpr unsigned kFrameHeight = 20;
constexpr double kLetterWidth = 8;      // in the widest common font
constexpr std::size_t kMaxListed = 20;  // APIs in the table

std::string_view ColorOf(const CheckedApi* api) {
  if (api == nullptr || !api->comparison.eligible()) return kUnknownColor;
  std::string_view color;
  for (const RatioColor& one : kRatioColors) {
    if (api->comparison.ratio >= one.least_ratio) color = one.color;
  }
  return color;
}

class ClickableFlames {
 public:
  explicit ClickableFlames(const FlamePageContent& content)
      : content_(content),
        view_(*content.view),
        checked_(Highlight(view_, *content.report)),
        names_(*content.report, FrameNames::Which::kAll),
        all_(static_cast<double>(view_.nodes[0].inclusive.after)),
        layout_(LayOut(view_)) {}

  std::string Svg() const {
    const unsigned height = (layout_.deepest + 1) * kFrameHeight;
    std::string svg = fmt::format(
        "<svg role=\"img\" aria-label=\"Flame graph: {0}\" width=\"{1}\" height=\"{2}\" "
        "viewBox=\"0 0 {1} {2}\">\n",
        draw::EscapeHtml(Sentence()), kFlameWidth, height);
    for (const FlameBox& box : layout_.boxes) svg += BoxSvg(box);
    return svg + "</svg>\n";
  }

  std::string Sentence() const {
    return FlaggedSentence(checked_, content_.report->Count(Verdict::kMore),
                           Share(checked_.flagged_total));
  }

  // The APIs that are worse, the most expensive first; recursive calls count once.
  PageTable Worse() const {
    using enum ColumnKind;
    PageTable table{.id = "worse",
                    .title = "Worse than the field",
                    .caption = "Share: of this profile, including callees.",
                    .columns = {{"API", kName},
                                {"Share", kNumber},
                                {"Ratio to the field", kNumber},
                                {"q", kNumber}},
                    .lines = {}};
    for (const auto& [api, total] : Totals()) {
      if (table.lines.size() == kMaxListed) break;
      table.lines.push_back(
          {NameHtml(names::DemangledName(api->key.api.symbol), "", api->key.api.soname),
           draw::EscapeHtml(Share(total)), fmt::format("{:.1f} ×", api->comparison.ratio),
           fmt::format("{:.2g}", api->comparison.q)});
    }
    return table;
  }

 private:
  using Total = std::pair<const CheckedApi*, stats::Uint128>;

  static FlameLayout LayOut(const analysis::TreeView& view) {
    std::vector<stats::Uint128> widths;
    for (const analysis::ViewNode& node : view.nodes) widths.push_back(node.inclusive.after);
    return LayOutFlames(view, widths, kLeastWidth);
  }

  std::string BoxSvg(const FlameBox& box) const {
    const bool is_root = box.node == 0;
    const analysis::ViewNode& node = view_.nodes[box.node];
    const std::string name = is_root ? "all" : analysis::NameOf(view_.frame(node));
    const CheckedApi* api = is_root ? nullptr : names_.Find(view_.frame(node));
    const unsigned top = node.depth * kFrameHeight;
    const bool worse = !is_root && checked_.nodes[box.node].flagged != nullptr;
    std::string svg = fmt::format(
        "<rect x=\"{:.1f}\" y=\"{}\" width=\"{:.1f}\" height=\"{}\" fill=\"{}\"{}><title>{}</title>"
        "</rect>",
        box.left, top, box.width, kFrameHeight - 1, ColorOf(api), worse ? " class=\"worse\"" : "",
        draw::EscapeHtml(Title(box.node, name, api)));
    const std::string label = FlameLabel(box, Lead(api, worse), name, kLetterWidth);
    if (!label.empty()) {
      svg += fmt::format("<text x=\"{:.1f}\" y=\"{}\" font-size=\"{}\">{}</text>", box.left + 3,
                         top + kFrameHeight - 6, kFlameFontSize, label);
    }
    return svg + "\n";
  }

  // The text before the name.
  static std::string Lead(const CheckedApi* api, bool worse) {
    if (api == nullptr || !api->comparison.eligible()) return "";
    return fmt::format("{}{:.1f}× ", worse ? "! " : "", api->comparison.ratio);
  }

  std::string Title(std::size_t index, const std::string& name, const CheckedApi* api) const {
    const analysis::ViewNode& node = view_.nodes[index];
    std::string title = fmt::format("{}: {}, {}; itself {}",
                                    draw::ShortenName(name, kMaxFlameTitleColumns, kPageTextStyle),
                                    Share(node.inclusive.after),
                                    CostText(static_cast<stats::Int128>(node.inclusive.after),
                                             view_.denominator, view_.metric.unit, kPageTextStyle),
                                    Share(node.self.after));
    if (index == 0) return title;
    if (api == nullptr) return title + "; unknown in the field";
    if (!api->comparison.eligible()) return title + "; " + analysis::Lack(*api);
    return title +
           fmt::format("; {:.2f} × the field, {}, q {:.2g}", api->comparison.ratio,
                       inference::Words(api->comparison.verdict, inference::Wording::kField),
                       api->comparison.q);
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
  const FlameLayout layout_;
};

std::string Legend() {
  constexpr unsigned kSide = 14;
  const auto swatch = [&](std::string_view color, std::string_view words) {
    return fmt::format(
        "<svg role=\"img\" aria-label=\"{2}\" width=\"{0}\" height=\"{0}\" viewBox=\"0 0 {0} "
        "{0}\"><rect x=\"0\" y=\"0\" width=\"{0}\" height=\"{0}\" fill=\"{1}\"/></svg> {2} ",
        kSide, color, words);
  };
  std::string html = "<p>" + swatch(kUnknownColor, "unknown in the field, or too little data");
  for (const RatioColor& one : kRatioColors) html += swatch(one.color, one.words);
  return html +
         "</p>\n<p class=\"soft\">! and a thick line: worse than the field. "
         "Width: share of the profile; callers are above what they call. Point at a frame for its "
         "numbers.</p>\n";
}

}  // namespace

std::string FlamePage(const FlamePageContent& content) {
  const ClickableFlames graph(content);
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
