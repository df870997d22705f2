#pragma once

#include <string>
#include <vector>

#include "tools/analysis/tree_view.h"

namespace fieldcost::report {

// A view as a flame graph: a self-contained SVG document without scripts. Callers are above their
// callees; a frame's width is its inclusive cost. Each frame's title states its name and costs, the
// picture's title is one sentence. Frames too narrow to be seen are omitted.
//
// In a difference, a frame's width is the sum of max(before, after) over the self costs in it, so
// that vanished frames keep their place: they are hatched; new ones have an outline. Red costs more
// than before, blue less; a stronger colour is a greater change; grey: `uncertain` [node] is set.
// REQUIRES: `uncertain` is empty, or has one entry per node. Deterministic; names are escaped.
//
// In a browser the picture is at most as wide as the window, with a dark background in dark mode;
// labels are dark letters on light frames in both modes.
std::string TreeSvg(const analysis::TreeView& view, const std::vector<bool>& uncertain);
// The same as part of a page, without its own style: the page's styles and policy apply.
std::string TreeSvgInPage(const analysis::TreeView& view, const std::vector<bool>& uncertain);

// The width of each node in such a picture: Σ max(before, after) of the self costs in it.
std::vector<stats::Uint128> WidthsOf(const analysis::TreeView& view);

}  // namespace fieldcost::report
