#pragma once

#include <cstdint>
#include <span>

#include "common/stats/contribution.h"

namespace fieldcost::inference {

// Tests whether machines need longer with one version of a library than with another. As in
// machine_variation.h, the observations are machines, not calls; here both sides consist of many.

// Machines that can be compared with each other, for example because they have the same hardware
// class. For each version of an API, the contributions are those of one quarter, so that each
// machine is counted once (common/stats/quarter_scalars.h).
struct MachineStratum {
  stats::ContributionScalars before;
  stats::ContributionScalars after;
};

struct MachineComparison {
  double p = 1;  // two-sided, in (0, 1]; 1 if no stratum has 2 machines on both sides
  double t = 0;  // positive: more expensive after
  double degrees_of_freedom = 0;
  double octaves = 0;                 // positive: more expensive after; 1 is twice
  double standard_error = 0;          // of octaves; 0 only if nothing could be compared
  std::uint32_t strata = 0;           // with at least 2 machines on both sides; others do not count
  std::uint64_t machines_before = 0;  // in these strata
  std::uint64_t machines_after = 0;

  // The confidence interval of `octaves` (for 0.95, with 2.5 % on either side).
  struct Interval {
    double low = 0;
    double high = 0;
  };
  Interval ConfidenceInterval(double confidence) const;
};

// Welch's test (1947) with strata. In stratum s, each side has K machines, mean m, h = mean(1/n):
//   d_s = m_after - m_before,    v_side = max(S^2_m, s^2_w h) / K
// S^2_m / K is Welch's variance; the maximum keeps it from falling below what the variation within
// machines implies. Strata are combined with the weights w_s = K_before K_after / (K_before +
// K_after) of Mantel and Haenszel (1959), which depend on numbers of machines only:
//   t = sum(w_s d_s) / sqrt(sum(w_s^2 (v_before + v_after))),
// with degrees of freedom by Satterthwaite (1946) over all sides of all strata. Since machines are
// compared only within a stratum, a different mix of machines does not look like a change. With one
// stratum, this is Welch's test. Machines on both sides make it more conservative. The standard
// error counts as at least 2^-16. REQUIRES: all are valid; the contributions of a side are from
// different machines. Pure, thread-safe.
MachineComparison CompareMachines(std::span<const MachineStratum> strata);

}  // namespace fieldcost::inference
