#pragma once

#include <span>

#include "common/inference/welch.h"

namespace fieldcost::inference {

// A group's values, each with a covariate that has the same effect in both groups.
struct WithCovariate {
  std::span<const double> values;
  std::span<const double> covariates;  // as many
};

struct AdjustedDifference {
  double difference = 0;        // b - a, at the same covariate
  double p = 1;                 // two-sided
  DifferenceInterval interval;  // without 0 exactly if p is below 1 - `level`
};

// Analysis of covariance: the difference of two groups' means, less the part that the covariates
// explain with one common slope, tested against the pooled residual variance. Meant for groups with
// similar covariates: where they differ, their effect cannot be separated from that of the group.
// Welch's test if no covariate varies within a group. REQUIRES: at least 2 values in each group, 4
// in total; 0 < level < 1. Pure.
AdjustedDifference DifferenceGiven(const WithCovariate& a, const WithCovariate& b, double level);

}  // namespace fieldcost::inference
