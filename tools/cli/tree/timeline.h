#pragma once

#include <optional>
#include <vector>

#include "common/base/result.h"
#include "common/tree/tree_metric.h"
#include "tools/cli/tree/operand.h"
#include "tools/report/tree/tree_page.h"

namespace fieldcost::cli {

// Limits on bins, and on values of all metrics together, since a browser has to load the page.
inline constexpr std::size_t kPageBins = 1'024;
inline constexpr std::size_t kMaxPageValues = 2'000'000;
// Maximum number of selectable threads; beyond it, those with the fewest samples are combined.
inline constexpr std::size_t kPageThreads = 32;
// Threads are not selectable if this many bins of them would exceed the limit on values.
inline constexpr std::size_t kLeastThreadBins = 64;

// What `operand`, which is of `recording`, cost over time, in bins of lengths that differ by 1 ns
// at most, by `metrics` (those of its tree). Fewer bins where there would be too many values.
// Of several threads also what each cost, unless they are the first frames of paths already
// (TreeOperand::by). nullopt if there are no samples. One pass over the samples, of
// more than kPageThreads threads two. Errors of Recording; kTooLarge if a
// bin's value passes 64 bits. REQUIRES: not AreMerged(), since then trees of bins do not add up.
Result<std::optional<report::Timeline>> LoadTimeline(const recording::Recording& recording,
                                                     const TreeOperand& operand,
                                                     const std::vector<tree::Metric>& metrics);

}  // namespace fieldcost::cli
