#pragma once

#include <span>

#include "common/inference/welch.h"

namespace fieldcost::inference {

// A group's values and their covariates, which have the same effect in both groups.
struct WithCovariate {
  std::span<const double> values;
  std::span<const double> covariates;  // one per value
};

struct AdjustedDifference {
  double difference = 0;        // b - a, at equal covariates
  double p = 1;                 // two-sided
  DifferenceInterval interval;  // excludes 0 if and only if p is below 1 - `level`
};

// Analysis of covariance: the difference of two groups' means, minus the part that the covariates
// explain with one common slope, tested against the pooled residual variance. Meant for groups with
// similar covariates; otherwise the covariate's effect cannot be separated from that of the group.
// Uses Welch's test if no covariate varies within a group. REQUIRES: at least 2 values in each
// group, 4 in total; 0 < level < 1. Pure.
AdjustedDifference DifferenceGiven(const WithCovariate& a, const WithCovariate& b, double level);

}  // namespace fieldcost::inference
