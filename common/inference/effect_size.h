#pragma once

#include "common/stats/agent_weights.h"
#include "common/stats/cost_histogram.h"

namespace fieldcost::inference {

// Costs of one side. With weights every contribution counts the same, without every call.
struct Costs {
  const stats::CostHistogram* histogram = nullptr;
  const stats::AgentWeights* weights = nullptr;  // nullptr = by calls
};

// Cliff's delta (1993): P(a cost after is above one before) - P(it is below), in [-1, 1]. Costs of
// different buckets are compared by bucket; those of one bucket by the normal distributions with
// the two means and variances that the sums give there, so that a shift within a bucket is seen,
// too. Error with values drawn from one normal distribution a side: below 0.02 (tested). 0 if
// either is empty. REQUIRES: weights are valid for their histogram. Pure, thread-safe.
double CliffsDelta(const Costs& before, const Costs& after);

}  // namespace fieldcost::inference
