#include "common/inference/machine_variation.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/inference/machine_moments.h"
#include "common/inference/tails.h"

namespace fieldcost::inference {
namespace {

constexpr double kSkewnessMissed = 10;  // times 1/A: see the header
constexpr double kSmallestStudentP = std::numeric_limits<double>::min();
constexpr double kLargestQuantileP = 1 - 0x1p-50;  // below 1: the quantile is finite

double PearsonP(double student_p, double skewness, double machines) {
  const double z = NormalUpperQuantile(std::clamp(student_p, kSmallestStudentP, kLargestQuantileP));
  return PearsonUpperTail(z, skewness * (1 + kSkewnessMissed / machines));
}

}  // namespace

MachineTest TestMachine(const stats::CostHistogram& mine, const stats::ContributionScalars& field) {
  return TestMachine(stats::ScalarsOf(mine), field);
}

MachineTest TestMachine(const stats::ContributionScalars& mine,
                        const stats::ContributionScalars& field) {
  if (mine.contributions == 0 || field.contributions < 2) return {};
  const auto contributions = static_cast<double>(field.contributions);
  const MachineMoments moments = MomentsOf(field);
  const double machines = std::max(moments.between - moments.within * moments.inverse_calls, 0.0);
  const double variance = machines * (1 + 1 / contributions) +
                          moments.within / (static_cast<double>(mine.sum_within_freedom) + 1) +
                          moments.within * moments.inverse_calls / contributions;
  MachineTest test;
  test.degrees_of_freedom = contributions - 1;
  test.octaves_above = static_cast<double>(mine.sum_mean) * kMeanStep - moments.mean;
  test.t = test.octaves_above / std::max(std::sqrt(variance), kMeanStep);
  test.p = std::clamp(StudentTUpperTail(test.t, test.degrees_of_freedom), kSmallestStudentP, 1.0);
  test.skewness = moments.skewness;
  if (moments.skewness && *moments.skewness > 0) {
    test.p = std::clamp(PearsonP(test.p, *moments.skewness, contributions), test.p, 1.0);
  }
  return test;
}

}  // namespace fieldcost::inference
