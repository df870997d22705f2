#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/draw/terminal.h"
#include "common/tree/compare_trees.h"
#include "tools/analysis/tree_view.h"

namespace fieldcost::report {

// The paths whose cost differs between two builds. Deterministic; everything is escaped.

// How the runs of the two sides were recorded.
enum class RunOrder : std::uint8_t {
  kAlternated,  // old and new in turn, so that noise of the machine affects both
  kSeparate,    // one side after the other; the machine may have become slower in between
};

// The result as a sentence without a newline: whether there are enough runs, which function changed
// most, by how much the whole changed, and how many paths cost more and less.
std::string CompareSentence(const tree::Comparison& comparison, const tree::Metric& metric,
                            RunOrder order, const draw::Style& style);

// One line per change, greatest first: before, after, ratio, q, self or inclusive, the path. At
// most `most` lines (0: all), then the number of the others. Empty if there is no change.
std::string ChangesText(const tree::Comparison& comparison, const tree::Metric& metric,
                        const draw::Style& style, std::size_t most = 0);

// For TreeText(): states for each node of TopDown() whether its change is certain, for a tree with
// the same frames.
std::vector<std::string> MarksOf(const tree::Comparison& comparison,
                                 const analysis::TreeView& view);

// One record per change: kind, path (frames from the outermost, separated by ';'), before, after,
// factor, q.
std::string ChangesCsv(const tree::Comparison& comparison);

}  // namespace fieldcost::report
