#pragma once

#include <optional>

#include "common/stats/contribution.h"
#include "common/stats/cost_histogram.h"

namespace fieldcost::inference {

// Tests whether my machine's mean log2 cost is higher than the variation among the field's machines
// explains. The calls of one machine are correlated, so the observations are machines: one new
// observation against the field's A. The variance between machines is
// tau^2 = max(S^2_m - s^2_w mean(1/n), 0), that within machines s^2_w, both from the scalars:
//   t = (m - mean m) / sqrt(tau^2 (1 + 1/A) + s^2_w / n + s^2_w mean(1/n) / A),
// with A - 1 degrees of freedom, one-sided. (If s^2_w is 0, this is Student's test with one sample
// of size 1.) If a few of the field's machines are slow, a slow machine is less unusual than this
// test assumes. So if the machines' means are skewed upwards, p is the larger of Student's and that
// of Pearson's type III with skewness G1 (1 + 10/A), at the normal quantile of Student's p.
// (Samples understate the skewness of long tails: for an exponential distribution, by 10/A.)
struct MachineTest {
  double p = 1;  // in (0, 1]; 1 without calls of mine or with fewer than 2 contributions
  double t = 0;
  double degrees_of_freedom = 0;
  // G1 of the field's machines. nullopt if the sums do not determine it; p is then Student's, which
  // is too small if a few machines are slow.
  std::optional<double> skewness;
  double octaves_above = 0;  // m - mean m; 1 is twice the typical cost of these machines
};

// REQUIRES: both are valid; the field's contributions are from different machines, none of them
// mine. The distance's standard error counts as at least 2^-16, the resolution of the stored means.
// Pure, thread-safe.
MachineTest TestMachine(const stats::CostHistogram& mine, const stats::ContributionScalars& field);
// The same, with the scalars of my only contribution (none = no calls).
MachineTest TestMachine(const stats::ContributionScalars& mine,
                        const stats::ContributionScalars& field);

}  // namespace fieldcost::inference
