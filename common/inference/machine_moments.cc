#include "common/inference/machine_moments.h"

#include <algorithm>
#include <cmath>

#include "common/base/check.h"
#include "common/stats/uint128.h"

namespace fieldcost::inference {
namespace {

constexpr double kSquareStep = 0x1p-32;  // of a square and of 1/n, Q32

// G1 (Joanes and Gill 1998) from the sums of d, d^2 and d^3 over the machines, d being a mean's
// distance from a whole step near all of them.
std::optional<double> SkewnessOf(double machines, double first, double second, double third) {
  const double shift = first / machines;
  const double squares = second - first * shift;
  const double cubes = third - 3 * shift * second + 2 * shift * shift * first;
  if (machines < 3) return std::nullopt;
  if (squares <= 0) return 0;
  return std::sqrt(machines * (machines - 1)) / (machines - 2) * (cubes / machines) /
         std::pow(squares / machines, 1.5);
}

}  // namespace

MachineMoments MomentsOf(const stats::ContributionScalars& scalars) {
  FIELDCOST_CHECK(scalars.contributions > 0);
  const stats::Int128 count = scalars.contributions;
  // The sum of (m - c)^2 and of m - c, c being the means' mean rounded down to a step. Their mean
  // is then below a step.
  const stats::Int128 remainder = (scalars.sum_mean % count + count) % count;
  const stats::Int128 centre = (scalars.sum_mean - remainder) / count;
  const stats::Int128 squares = static_cast<stats::Int128>(scalars.sum_mean_squared) -
                                2 * centre * scalars.sum_mean + count * centre * centre;
  const stats::Uint128 c =
      static_cast<stats::Uint128>(centre);  // the remainder is small: intermediate values may wrap
  const auto cubes = static_cast<stats::Int128>(
      static_cast<stats::Uint128>(scalars.sum_mean_cubed) - 3 * c * scalars.sum_mean_squared +
      3 * c * c * static_cast<stats::Uint128>(scalars.sum_mean) -
      static_cast<stats::Uint128>(count) * c * c * c);
  const auto rest = static_cast<double>(remainder);
  const auto machines = static_cast<double>(count);
  const double about_mean =
      std::max(0.0, static_cast<double>(squares) - rest * rest / machines) * kSquareStep;
  return {.mean = (static_cast<double>(centre) + rest / machines) * kMeanStep,
          .between = count < 2 ? 0 : about_mean / (machines - 1),
          .within = scalars.sum_within_freedom == 0
                        ? 0
                        : static_cast<double>(scalars.sum_within_squares) * kSquareStep /
                              static_cast<double>(scalars.sum_within_freedom),
          .inverse_calls = static_cast<double>(scalars.sum_inverse_calls) * kSquareStep / machines,
          .skewness =
              SkewnessOf(machines, rest, static_cast<double>(squares), static_cast<double>(cubes))};
}

}  // namespace fieldcost::inference
