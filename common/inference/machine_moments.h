#pragma once

#include <optional>

#include "common/stats/contribution.h"

namespace fieldcost::inference {

// A fixed-point step of a stored mean: no difference of means is known better than this, octaves.
inline constexpr double kMeanStep = 0x1p-16;

// Moments of the machines, computed from a row's scalars; all in octaves (log2 of the cost).
struct MachineMoments {
  double mean = 0;           // of the machines' means
  double between = 0;        // S^2_m, the variance of the machines' means; 0 for one machine
  double within = 0;         // s^2_w, the pooled variance of calls of one machine
  double inverse_calls = 0;  // the mean of 1/n
  // The skewness of the machines' means (Fisher's adjusted G1, without unit), positive if a few are
  // far above the others. nullopt if there are fewer than 3 machines.
  std::optional<double> skewness;
};

// Nothing cancels: the sums are taken about a whole step near their mean, in integers. REQUIRES:
// valid, at least 1 contribution. Pure, thread-safe.
MachineMoments MomentsOf(const stats::ContributionScalars& scalars);

}  // namespace fieldcost::inference
