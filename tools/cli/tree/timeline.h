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

// The cost of `operand`, a part of `recording`, over time, in bins whose lengths differ by at most
// 1 ns, by `metrics` (those of its tree). Uses fewer bins if there would be too many values. With
// several threads also the cost of each, unless they are the first frames of paths already
// (TreeOperand::by). nullopt without samples. One pass over the samples, two if there are more than
// kPageThreads threads. Errors of Recording; kTooLarge if the value of a bin exceeds 64 bits.
// REQUIRES: not AreMerged(), since then trees of bins do not add up.
Result<std::optional<report::Timeline>> LoadTimeline(const recording::Recording& recording,
                                                     const TreeOperand& operand,
                                                     const std::vector<tree::Metric>& metrics);

}  // namespace fieldcost::cli
