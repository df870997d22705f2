#include "common/stats/machine_variation.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/stats/machine_moments.h"
#include "common/stats/tails.h"

namespace fieldcost::stats {

MachineTest TestMachine(const CostHistogram& mine, const ContributionScalars& field) {
  if (mine.empty() || field.contributions < 2) return {};
  const auto contributions = static_cast<double>(field.contributions);
  const MachineMoments moments = MomentsOf(field);
  const double machines = std::max(moments.between - moments.within * moments.inverse_calls, 0.0);
  const double variance = machines * (1 + 1 / contributions) +
                          moments.within / static_cast<double>(mine.count()) +
                          moments.within * moments.inverse_calls / contributions;
  MachineTest test;
  test.degrees_of_freedom = contributions - 1;
  test.octaves_above = static_cast<double>(ScalarsOf(mine).sum_mean) * kMeanStep - moments.mean;
  test.t = test.octaves_above / std::max(std::sqrt(variance), kMeanStep);
  test.p = std::clamp(StudentTUpperTail(test.t, test.degrees_of_freedom),
                      std::numeric_limits<double>::min(), 1.0);
  return test;
}

}  // namespace fieldcost::stats
