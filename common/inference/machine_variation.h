#pragma once

#include <optional>

#include "common/stats/contribution.h"
#include "common/stats/cost_histogram.h"

namespace fieldcost::inference {

// Is my machine's mean log2 cost above the variation of the field's machines? The calls of one
// machine are correlated, so this test's observations are machines: one new observation against the
// field's A, with the variance between machines, tau^2 = max(S^2_m - s^2_w mean(1/n), 0), and
// within, s^2_w, both from the scalars:
//   t = (m - mean m) / sqrt(tau^2 (1 + 1/A) + s^2_w / n + s^2_w mean(1/n) / A), A - 1 degrees of
// freedom, one-sided. (Where s^2_w is 0 this is Student's test with one sample of size 1.)
// A few slow machines make a machine above the others more usual than that says. So where the
// machines' means are skewed upwards, p is the greater of Student's and that of Pearson's type III
// with their skewness G1 (1 + 10/A), at the normal quantile of Student's p. (Samples understate
// the skewness of long tails; by 10/A of an exponential distribution's.)
struct MachineTest {
  double p = 1;  // in (0, 1]; 1 if there are no calls of mine or fewer than 2 contributions
  double t = 0;
  double degrees_of_freedom = 0;
  // G1 of the field's machines; nullopt if the sums do not tell: p is then Student's, which is too
  // small where a few machines are slow.
  std::optional<double> skewness;
  double octaves_above = 0;  // m - mean m: 1 is twice the typical of these machines
};

// REQUIRES: both are valid, and the field's contributions are of different machines, none of them
// mine. The distance's standard
// error counts as at least 2^-16, the step of the stored means. Pure, thread-safe.
MachineTest TestMachine(const stats::CostHistogram& mine, const stats::ContributionScalars& field);
// The same with the scalars of my one contribution (no contribution = no calls).
MachineTest TestMachine(const stats::ContributionScalars& mine,
                        const stats::ContributionScalars& field);

}  // namespace fieldcost::inference
