#pragma once

#include <cstdint>
#include <span>

#include "common/stats/contribution.h"

namespace fieldcost::inference {

// Do machines need longer with one version of a library than with another? As in
// machine_variation.h machines, not calls, are the observations; here both sides are many.

// Machines that can be compared with each other (of one hardware class, say): those that
// contributed to either version of an API in one quarter each, so that each is counted once
// (week_scalars.h).
struct MachineStratum {
  stats::ContributionScalars before;
  stats::ContributionScalars after;
};

struct MachineComparison {
  double p = 1;  // two-sided, in (0, 1]; 1 if no stratum has 2 machines on both sides
  double t = 0;  // positive: more expensive after
  double degrees_of_freedom = 0;
  double octaves = 0;                 // after above before: 1 is twice
  double standard_error = 0;          // of octaves; 0 only if nothing could be compared
  std::uint32_t strata = 0;           // with 2 machines or more on both sides; only they count
  std::uint64_t machines_before = 0;  // in these strata
  std::uint64_t machines_after = 0;

  // What octaves is within, with that confidence (0.95: 2.5 % on either side).
  struct Interval {
    double low = 0;
    double high = 0;
  };
  Interval ConfidenceInterval(double confidence) const;
};

// Welch's test (1947) with strata. In stratum s, with K machines, mean m and h = mean(1/n) a side:
//   d_s = m_after - m_before,    v_side = max(S^2_m, s^2_w h) / K
// S^2_m / K is Welch's; it is lifted to what the calls' variation within machines leaves at least.
// Strata are combined with the weights w_s = K_before K_after / (K_before + K_after) of Mantel and
// Haenszel (1959), which depend on numbers of machines only:
//   t = sum(w_s d_s) / sqrt(sum(w_s^2 (v_before + v_after))),
// degrees of freedom by Satterthwaite (1946) over all sides of all strata. So another mix of
// machines is no change: only machines of one stratum are compared. One stratum is Welch's test.
// A machine that is on both sides makes it milder. The standard error counts as at least 2^-16.
// REQUIRES: all are valid; the contributions of a side are of different machines. Pure,
// thread-safe.
MachineComparison CompareMachines(std::span<const MachineStratum> strata);

}  // namespace fieldcost::inference
