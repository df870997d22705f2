#pragma once

#include <optional>
#include <vector>

#include "common/base/result.h"
#include "common/tree/metric.h"
#include "tools/cli/tree/operand.h"
#include "tools/report/tree/page.h"

namespace fieldcost::cli {

// At most so many bins, of all metrics together so many values: a page has to be read by a browser.
inline constexpr std::size_t kPageBins = 1'024;
inline constexpr std::size_t kMaxPageValues = 2'000'000;
// At most so many threads can be chosen; of more, those with the fewest samples are one.
inline constexpr std::size_t kPageThreads = 32;
// No threads can be chosen if this many bins of them would have too many values.
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
