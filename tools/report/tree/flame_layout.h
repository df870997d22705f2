#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/analysis/tree_view.h"

namespace fieldcost::report {

// The horizontal layout of a flame graph's frames, and the labels that fit into them. Lengths are
// in user units, which are CSS pixels at the drawing's natural size. Pure.

inline constexpr double kFlameWidth = 1200;
inline constexpr unsigned kFlameFontSize = 12;
inline constexpr std::size_t kMaxFlameTitleColumns = 240;  // of a name in a frame's title

struct FlameBox {
  std::size_t node = 0;
  double left = 0;
  double width = 0;
};

struct FlameLayout {
  std::vector<FlameBox> boxes;  // in the order of the nodes
  unsigned deepest = 0;         // depth of a node in it
};

// The root is as wide as the drawing, each node by `widths` a part of it, siblings side by side
// from their parent's left on. Nodes narrower than `least_width` are left out; all, if the root is
// 0 wide. REQUIRES: a width for each node.
FlameLayout LayOutFlames(const analysis::TreeView& view, std::span<const stats::Uint128> widths,
                         double least_width);

// The text that fits into a box in letters of that width: the lead, then the name, shortened so
// that the function's own name remains; "" if there is too little room. Escaped for HTML.
std::string FlameLabel(const FlameBox& box, std::string_view lead, std::string_view untrusted_name,
                       double letter_width);

}  // namespace fieldcost::report
