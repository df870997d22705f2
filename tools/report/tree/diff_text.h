#pragma once

#include <string>
#include <vector>

#include "common/draw/terminal.h"
#include "common/tree/compare.h"
#include "tools/analysis/tree_view.h"

namespace fieldcost::report {

// Which paths of two builds cost more or less. Deterministic; everything is escaped.

// One sentence that says what there is: whether runs are enough, by how much all paths alike became
// more expensive, and how many paths changed beside that. Without a line feed.
std::string CompareSentence(const tree::Comparison& comparison, const tree::Metric& metric);

// A line a change, the greatest first: before, after, ratio, q, self or inclusive, the path. Empty
// if there is none.
std::string ChangesText(const tree::Comparison& comparison, const tree::Metric& metric,
                        const draw::Style& style);

// For TreeText(): what is certain of each node of TopDown() of a tree with the same frames.
std::vector<std::string> MarksOf(const tree::Comparison& comparison,
                                 const analysis::TreeView& view);

// A record a change: kind, path (frames from outside, ';' between), before, after, factor, q.
std::string ChangesCsv(const tree::Comparison& comparison);

}  // namespace fieldcost::report
