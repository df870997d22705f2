#include "common/stats/machine_variation.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/stats/tails.h"
#include "common/stats/uint128.h"

namespace fieldcost::stats {
namespace {

constexpr double kStep = 0x1p-16;        // of a mean, Q16
constexpr double kSquareStep = 0x1p-32;  // of a square and of 1/n, Q32

// The sum of (m - c)^2 and of m - c, c being the means' mean rounded down to a step: integers, so
// that nothing cancels. Their mean is then below a step.
struct Centred {
  double mean;     // in octaves
  double squares;  // in octaves^2, about the exact mean
};

Centred Centre(const ContributionScalars& field) {
  const Int128 count = field.contributions;
  const Int128 remainder = (field.sum_mean % count + count) % count;
  const Int128 centre = (field.sum_mean - remainder) / count;
  const Int128 squares = static_cast<Int128>(field.sum_mean_squared) - 2 * centre * field.sum_mean +
                         count * centre * centre;
  const auto rest = static_cast<double>(remainder);
  const auto contributions = static_cast<double>(count);
  return {.mean = (static_cast<double>(centre) + rest / contributions) * kStep,
          .squares = std::max(0.0, static_cast<double>(squares) - rest * rest / contributions) *
                     kSquareStep};
}

}  // namespace

MachineTest TestMachine(const CostHistogram& mine, const ContributionScalars& field) {
  if (mine.empty() || field.contributions < 2) return {};
  const auto contributions = static_cast<double>(field.contributions);
  const Centred centred = Centre(field);
  const double between = centred.squares / (contributions - 1);
  const double within = field.sum_within_freedom == 0
                            ? 0
                            : static_cast<double>(field.sum_within_squares) * kSquareStep /
                                  static_cast<double>(field.sum_within_freedom);
  const double inverse_calls =
      static_cast<double>(field.sum_inverse_calls) * kSquareStep / contributions;
  const double machines = std::max(between - within * inverse_calls, 0.0);
  const double variance = machines * (1 + 1 / contributions) +
                          within / static_cast<double>(mine.count()) +
                          within * inverse_calls / contributions;
  MachineTest test;
  test.degrees_of_freedom = contributions - 1;
  test.octaves_above = static_cast<double>(ScalarsOf(mine).sum_mean) * kStep - centred.mean;
  test.t = test.octaves_above / std::max(std::sqrt(variance), kStep);
  test.p = std::clamp(StudentTUpperTail(test.t, test.degrees_of_freedom),
                      std::numeric_limits<double>::min(), 1.0);
  return test;
}

}  // namespace fieldcost::stats
