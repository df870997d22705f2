#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/analysis/tree_view.h"

namespace fieldcost::report {

// The horizontal layout of a flame graph's frames, and the labels that fit into them. Lengths are
// in user units: CSS pixels at the drawing's natural size. Pure.

inline constexpr double kFlameWidth = 1200;
inline constexpr unsigned kFlameFontSize = 12;
inline constexpr std::size_t kMaxFlameTitleColumns = 240;  // of the name in a frame's title

struct FlameBox {
  std::size_t node = 0;
  double left = 0;
  double width = 0;
};

struct FlameLayout {
  std::vector<FlameBox> boxes;  // in the order of the nodes
  unsigned deepest = 0;         // maximum depth of its nodes
};

// The root is as wide as the drawing; each other node takes its part of that by `widths`, siblings
// side by side from their parent's left edge. Omits nodes narrower than `least_width`, and all
// nodes if the root's width is 0. REQUIRES: one width per node.
FlameLayout LayOutFlames(const analysis::TreeView& view, std::span<const stats::Uint128> widths,
                         double least_width);

// The text that fits into a box in letters of that width: the lead, then the name, shortened so
// that the function's own name remains; "" if there is too little room. Escaped for HTML.
std::string FlameLabel(const FlameBox& box, std::string_view lead, std::string_view untrusted_name,
                       double letter_width);

}  // namespace fieldcost::report
