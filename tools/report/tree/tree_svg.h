#pragma once

#include <string>
#include <vector>

#include "tools/analysis/tree_view.h"

namespace fieldcost::report {

// A view as a flame graph: a whole SVG document that needs nothing beside itself and runs nothing,
// callers above what they call, as wide as that costs. Each frame says its name and costs in words
// (title), and the whole in one sentence. Frames too narrow to be seen are left out.
//
// In a difference a frame is as wide as the sum of the greater of before and after of each self
// cost in it, so that what has vanished keeps its place: it is hatched; new frames have an outline.
// Red costs more than before, blue less, the stronger the more; grey where `uncertain` [node] is
// set. REQUIRES: `uncertain` is empty, or has as many entries as there are nodes. Deterministic;
// names are escaped.
//
// In a browser it is as wide as the window at most, and its ground is dark where the reader has set
// that; labels are dark letters on light frames in both.
std::string TreeSvg(const analysis::TreeView& view, const std::vector<bool>& uncertain);
// The same as a part of a page, whose styles and policy apply: without a style of its own.
std::string TreeSvgInPage(const analysis::TreeView& view, const std::vector<bool>& uncertain);

// What a node's width is in such a picture: Σ max(before, after) of the self costs in it.
std::vector<stats::Uint128> WidthsOf(const analysis::TreeView& view);

}  // namespace fieldcost::report
