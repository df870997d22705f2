#pragma once

#include <cstdint>

#include "common/base/result.h"
#include "common/stats/cost_histogram.h"
#include "common/stats/uint128.h"

namespace fieldcost::stats {

// Additive scalars over contributions (a contribution = one agent's first batch row for one row
// key). They let a reader compare machines, since calls of one machine are correlated. With n = how
// many of a contribution's calls were measured, m = its mean log2 cost and s^2 its variance of log2
// costs:
struct ContributionScalars {
  std::uint64_t contributions = 0;  // A
  Int128 sum_mean = 0;              // sum of m, Q16 fixed point
  Uint128 sum_mean_squared = 0;     // sum of m^2, Q32
  Uint128 sum_inverse_calls = 0;    // sum of 1/n, Q32
  Uint128 sum_within_squares = 0;   // sum of (n-1)s^2, Q32
  Uint128 sum_within_freedom = 0;   // sum of n-1
  // Sum of m^3, Q48. |m| is below 2^22 steps, so the sum over 2^56 contributions, the most that are
  // valid, is below 2^122.
  Int128 sum_mean_cubed = 0;
  bool operator==(const ContributionScalars&) const = default;

  // Adds. REQUIRES, for a meaningful result: both are valid. Sums wrap, they never trap.
  void Merge(const ContributionScalars& other);
  // kInvalidArgument, and no change, unless the result is one that additions could have made.
  Status Subtract(const ContributionScalars& other);
};

// The scalars of one contribution, computed from its (valid, non-empty) histogram with integers
// only, so that every machine computes the same bits and the contribution can be withdrawn. A
// bucket's values count as log2(sum/count) of that bucket; zeros count as -1. Empty -> all zero.
ContributionScalars ScalarsOf(const CostHistogram& histogram);

// kCorrupt unless 1 contribution or more makes these scalars possible: mean range, Cauchy-Schwarz,
// inverse calls at most contributions, all zero if contributions is zero. Cubes must be in range,
// congruent to the means modulo 6, and possible with them and their squares.
Status Validate(const ContributionScalars& untrusted_scalars);

// floor(log2(numerator / denominator) * 2^16) for positive arguments, the same on every machine:
// uses integers wherever the rounding of floating point could matter. The ratio is truncated to 128
// significant bits on the way, so the result is one too low where the exact logarithm is within
// 2^-90 above a step.
std::int32_t Log2RatioQ16(Uint128 numerator, std::uint64_t denominator);
// The same by the slow method only, which the above uses where the fast one is not certain.
std::int32_t Log2RatioQ16Wide(Uint128 numerator, std::uint64_t denominator);

}  // namespace fieldcost::stats
