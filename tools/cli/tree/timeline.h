#pragma once

#include <optional>
#include <vector>

#include "common/base/result.h"
#include "common/tree/tree_metric.h"
#include "tools/cli/tree/operand.h"
#include "tools/report/tree/tree_page.h"

namespace fieldcost::cli {

// Limits on the number of bins and on values of all metrics together, because a browser must load
// the page.
inline constexpr std::size_t kPageBins = 1'024;
inline constexpr std::size_t kMaxPageValues = 2'000'000;
// Maximum number of selectable threads; beyond it, those with the fewest samples are combined.
inline constexpr std::size_t kPageThreads = 32;
// Threads are not selectable if even this number of bins per thread would exceed the limit on
// values.
inline constexpr std::size_t kLeastThreadBins = 64;

// Returns the cost of `operand`, a part of `recording`, over time, in bins whose lengths differ by
// at most 1 ns, by `metrics` (those of its tree). Uses fewer bins if there would be too many
// values. With several threads also returns the cost of each, unless threads already are the first
// frames of paths (TreeOperand::by). nullopt without samples. Makes one pass over the samples, two
// if there are more than kPageThreads threads. Errors of Recording; kTooLarge if the value of a bin
// exceeds 64 bits. REQUIRES: not AreMerged(), since trees of bins would then not add up.
Result<std::optional<report::Timeline>> LoadTimeline(const recording::Recording& recording,
                                                     const TreeOperand& operand,
                                                     const std::vector<tree::Metric>& metrics);

}  // namespace fieldcost::cli
