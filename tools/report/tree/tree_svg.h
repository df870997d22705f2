#pragma once

#include <string>
#include <vector>

#include "tools/analysis/tree_view.h"

namespace fieldcost::report {

// A view as a flame graph: a self-contained SVG document without scripts. Callers are above their
// callees, as wide as the cost of both. The title of each frame has its name and costs, that of the
// picture one sentence. Frames too narrow to be seen are left out.
//
// In a difference the width of a frame is the sum, over the self costs in it, of the greater of
// before and after, so that frames that have vanished keep their place: they are hatched; new ones
// have an outline. Red costs more than before, blue less; a stronger colour is a greater change;
// grey: `uncertain` [node] is set. REQUIRES: `uncertain` is empty, or has as many entries as there
// are nodes. Deterministic; names are escaped.
//
// In a browser it is at most as wide as the window, and its background is dark in dark mode; labels
// are dark letters on light frames in both modes.
std::string TreeSvg(const analysis::TreeView& view, const std::vector<bool>& uncertain);
// The same as part of a page, without a style of its own: the page's styles and policy apply.
std::string TreeSvgInPage(const analysis::TreeView& view, const std::vector<bool>& uncertain);

// The width of each node in such a picture: Σ max(before, after) of the self costs in it.
std::vector<stats::Uint128> WidthsOf(const analysis::TreeView& view);

}  // namespace fieldcost::report
