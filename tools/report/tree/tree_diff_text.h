#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/draw/terminal.h"
#include "common/tree/compare_trees.h"
#include "tools/analysis/tree_view.h"

namespace fieldcost::report {

// The paths that cost more or less in one of two builds. Deterministic; everything is escaped.

// How the runs of the two sides were recorded.
enum class RunOrder : std::uint8_t {
  kAlternated,  // old and new by turns, so that noise of the machine is common to both
  kSeparate,    // one side after the other: the machine may have been slower meanwhile
};

// The result as a sentence: whether there are enough runs, which function changed most, by how much
// the whole changed, and how many paths cost more and less. Without a line feed.
std::string CompareSentence(const tree::Comparison& comparison, const tree::Metric& metric,
                            RunOrder order, const draw::Style& style);

// One line per change, the greatest first: before, after, ratio, q, self or inclusive, the path.
// At most `most` lines, then how many more there are; 0: all. Empty if there is no change.
std::string ChangesText(const tree::Comparison& comparison, const tree::Metric& metric,
                        const draw::Style& style, std::size_t most = 0);

// For TreeText(): whether the change of each node of TopDown() is certain, for a tree with the same
// frames.
std::vector<std::string> MarksOf(const tree::Comparison& comparison,
                                 const analysis::TreeView& view);

// One record per change: kind, path (frames from outside, ';' between), before, after, factor, q.
std::string ChangesCsv(const tree::Comparison& comparison);

}  // namespace fieldcost::report
