#pragma once

#include <string>

#include "common/stats/agent_weights.h"
#include "common/stats/cost_histogram.h"

namespace fieldcost::stats {

// A quantile estimate, with an interval that is guaranteed to contain the true value.
struct Quantile {
  double estimate = 0;
  double low = 0;  // guaranteed: low <= true value <= high
  double high = 0;
};

// Estimates the q-quantile (0 < q < 1) of the values summed in `histogram`. It is the lower
// quantile, the value of rank ceil(q * n), where q is exactly the decimal fraction as written: for
// 0.55 and 100 values, the 55th. Within a bucket, a beta distribution on [min, max] with the
// bucket's two moments is used, rounded to whole units. Where there is nothing to fit, the estimate
// is the bucket's mean (no variance), the exact solution (two values), or the middle of the
// interval (values at both edges of the bucket, where a fit could choose the wrong edge). The
// guaranteed interval is the bucket, narrowed by its moments and count. The error depends on the
// shape: less than 1 % for most quantiles of smooth costs, up to 40 % for few distinct values in
// one bucket; FIGURES.md has a table. All zero for an empty histogram. Thread-safe; costs about 60
// evaluations of an incomplete beta function.
Quantile EstimateQuantile(const CostHistogram& histogram, double q);

// Estimates the q-quantile of the costs with every contribution weighted equally (see
// AgentWeights), in the bucket in which the cumulative weight reaches q. Within the bucket only the
// calls' sums are known, so the estimate is that of EstimateQuantile() for the call at the same
// fraction of the bucket; the guaranteed interval is the whole bucket. All zero without weights.
// REQUIRES: `weights` are valid for `histogram`.
Quantile EstimateWeightedQuantile(const CostHistogram& histogram, const AgentWeights& weights,
                                  double q);

}  // namespace fieldcost::stats
