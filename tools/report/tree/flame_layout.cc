#include "tools/report/tree/flame_layout.h"

#include <algorithm>

#include "common/base/check.h"
#include "common/base/text.h"
#include "common/draw/html.h"
#include "common/draw/name_text.h"
#include "common/draw/terminal.h"
#include "tools/report/page_text_style.h"

namespace fieldcost::report {
namespace {

constexpr double kLabelMargin = 3;  // on either side of a label
constexpr std::size_t kLeastLetters = 3;

}  // namespace

FlameLayout LayOutFlames(const analysis::TreeView& view, std::span<const stats::Uint128> widths,
                         double least_width) {
  FIELDCOST_CHECK(widths.size() == view.nodes.size());
  FlameLayout layout;
  const auto all = static_cast<double>(widths[0]);
  if (all == 0) return layout;
  std::vector<double> next(widths.size());  // position of the next child
  for (std::size_t i = 0; i < widths.size(); ++i) {
    const analysis::ViewNode& node = view.nodes[i];
    const double width = static_cast<double>(widths[i]) / all * kFlameWidth;
    const double left = i == 0 ? 0 : next[node.parent];
    if (i != 0) next[node.parent] += width;
    next[i] = left;
    if (width < least_width) continue;
    layout.deepest = std::max(layout.deepest, node.depth);
    layout.boxes.push_back({.node = i, .left = left, .width = width});
  }
  return layout;
}

std::string FlameLabel(const FlameBox& box, std::string_view lead, std::string_view untrusted_name,
                       double letter_width) {
  const double room = std::max(0.0, box.width - 2 * kLabelMargin);
  const auto letters = static_cast<std::size_t>(room / letter_width);
  if (letters < kLeastLetters) return "";
  const std::size_t lead_letters = draw::DisplayWidth(lead);
  if (lead_letters > letters) return draw::EscapeHtml(draw::Shorten(lead, letters, kPageTextStyle));
  std::string label(lead);
  if (letters - lead_letters >= kLeastLetters) {
    label += draw::ShortenName(untrusted_name, letters - lead_letters, kPageTextStyle);
  }
  return draw::EscapeHtml(Trim(label));
}

}  // namespace fieldcost::report
