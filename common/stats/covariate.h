#pragma once

#include <span>

#include "common/stats/welch.h"

namespace fieldcost::stats {

// Some values, each with what else it depends on, in the same way in both groups.
struct WithCovariate {
  std::span<const double> values;
  std::span<const double> covariates;  // as many
};

struct AdjustedDifference {
  double difference = 0;        // b - a, at the same covariate
  double p = 1;                 // two-sided
  DifferenceInterval interval;  // without 0 exactly if p is below 1 - `level`
};

// Analysis of covariance: the difference of two groups' means, less what their covariates explain
// by one slope for both, tested against the variance that is left, pooled. Meant for groups whose
// covariates are alike: where they differ, what they explain cannot be told from what the groups
// do. Welch's test where no covariate varies within a group. REQUIRES: 2 or more in each group, 4
// in both; 0 < level < 1. Pure.
AdjustedDifference DifferenceGiven(const WithCovariate& a, const WithCovariate& b, double level);

}  // namespace fieldcost::stats
