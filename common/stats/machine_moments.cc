#include "common/stats/machine_moments.h"

#include <algorithm>

#include "common/stats/uint128.h"

namespace fieldcost::stats {
namespace {

constexpr double kSquareStep = 0x1p-32;  // of a square and of 1/n, Q32

}  // namespace

MachineMoments MomentsOf(const ContributionScalars& scalars) {
  const Int128 count = scalars.contributions;
  // The sum of (m - c)^2 and of m - c, c being the means' mean rounded down to a step. Their mean
  // is then below a step.
  const Int128 remainder = (scalars.sum_mean % count + count) % count;
  const Int128 centre = (scalars.sum_mean - remainder) / count;
  const Int128 squares = static_cast<Int128>(scalars.sum_mean_squared) -
                         2 * centre * scalars.sum_mean + count * centre * centre;
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
          .inverse_calls = static_cast<double>(scalars.sum_inverse_calls) * kSquareStep / machines};
}

}  // namespace fieldcost::stats
