#include "common/inference/machine_comparison.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/inference/machine_moments.h"
#include "common/inference/tails.h"

namespace fieldcost::inference {
namespace {

struct Side {
  double machines;
  double mean;
  double variance;  // of that mean
};

Side SideOf(const stats::ContributionScalars& scalars) {
  const MachineMoments moments = MomentsOf(scalars);
  const auto machines = static_cast<double>(scalars.contributions);
  return {machines, moments.mean,
          std::max(moments.between, moments.within * moments.inverse_calls) / machines};
}

}  // namespace

MachineComparison CompareMachines(std::span<const MachineStratum> strata) {
  MachineComparison result;
  double weights = 0;
  double distance = 0;
  double variance = 0;
  double satterthwaite = 0;  // sum of (w^2 v)^2 / (K - 1)
  double freedom = 0;        // sum of K - 1
  for (const MachineStratum& stratum : strata) {
    if (stratum.before.contributions < 2 || stratum.after.contributions < 2) continue;
    const Side before = SideOf(stratum.before);
    const Side after = SideOf(stratum.after);
    const double weight = before.machines * after.machines / (before.machines + after.machines);
    ++result.strata;
    result.machines_before += stratum.before.contributions;
    result.machines_after += stratum.after.contributions;
    weights += weight;
    distance += weight * (after.mean - before.mean);
    for (const Side& side : {before, after}) {
      const double part = weight * weight * side.variance;
      variance += part;
      satterthwaite += part * part / (side.machines - 1);
      freedom += side.machines - 1;
    }
  }
  if (result.strata == 0) return result;
  result.octaves = distance / weights;
  result.standard_error = std::max(std::sqrt(variance) / weights, kMeanStep);
  result.t = result.octaves / result.standard_error;
  result.degrees_of_freedom = satterthwaite > 0 ? variance * variance / satterthwaite : freedom;
  result.p = std::clamp(2 * StudentTUpperTail(std::abs(result.t), result.degrees_of_freedom),
                        std::numeric_limits<double>::min(), 1.0);
  return result;
}

MachineComparison::Interval MachineComparison::ConfidenceInterval(double confidence) const {
  if (strata == 0) {
    return {-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  }
  const double reach =
      standard_error * StudentTUpperQuantile((1 - confidence) / 2, degrees_of_freedom);
  return {octaves - reach, octaves + reach};
}

}  // namespace fieldcost::inference
