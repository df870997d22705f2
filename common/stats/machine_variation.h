#pragma once

#include "common/stats/contribution.h"
#include "common/stats/cost_histogram.h"

namespace fieldcost::stats {

// Is my machine's mean log2 cost above what the field's machines vary by? The calls of one machine
// resemble each other, so this test's observations are machines: one new observation against the
// field's A, with the variance between machines, tau^2 = max(S^2_m - s^2_w mean(1/n), 0), and
// within, s^2_w, both from the scalars:
//   t = (m - mean m) / sqrt(tau^2 (1 + 1/A) + s^2_w / n + s^2_w mean(1/n) / A), A - 1 degrees of
// freedom, one-sided. (Where s^2_w is 0 this is Student's test with one sample of size 1.)
struct MachineTest {
  double p = 1;  // in (0, 1]; 1 if there are no calls of mine or fewer than 2 contributions
  double t = 0;
  double degrees_of_freedom = 0;
  double octaves_above = 0;  // m - mean m: 1 is twice the field's typical machine
};

// REQUIRES: both are valid, and my contribution is not in the field's. The distance's standard
// error counts as at least 2^-16, the step of the stored means. Pure, thread-safe.
MachineTest TestMachine(const CostHistogram& mine, const ContributionScalars& field);

}  // namespace fieldcost::stats
