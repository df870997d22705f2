#pragma once

#include <string>

#include "common/stats/agent_weights.h"
#include "common/stats/cost_histogram.h"

namespace fieldcost::stats {

// A quantile estimate with the interval that is guaranteed to hold the true value.
struct Quantile {
  double estimate = 0;
  double low = 0;  // guaranteed: low <= true value <= high
  double high = 0;
};

// The q-quantile (0 < q < 1; lower quantile: the value of rank ceil(q * n), exactly, with q the
// decimal fraction that is written: 0.55 of 100 values is the 55th) of the values summed in
// `histogram`. Within a bucket the two moments choose a beta distribution on [min, max], rounded to
// whole units. Where there is nothing to fit it is the bucket's mean (no variance), the exact
// solution (two values), or the middle of the interval (values at the bucket's edges, where a fit
// may be at the wrong one). The guaranteed interval is the bucket's, tightened by its moments and
// count. How far the estimate is off depends on the shape: less than 1 % in most quantiles of
// smooth costs, up to 40 % for few distinct values in one bucket; FIGURES.md has a table. All zero
// for an empty histogram. Thread-safe; costs about 60 evaluations of an incomplete beta function.
Quantile EstimateQuantile(const CostHistogram& histogram, double q);

// The q-quantile of the costs when every contribution counts the same (see AgentWeights): its
// bucket is where q of the weight is reached. Inside the bucket only the calls' sums are known, so
// the estimate is that of EstimateQuantile() for the call at the same fraction of the bucket; the
// guaranteed interval is the whole bucket. All zero without weights.
// REQUIRES: `weights` are valid for `histogram`.
Quantile EstimateWeightedQuantile(const CostHistogram& histogram, const AgentWeights& weights,
                                  double q);

}  // namespace fieldcost::stats
