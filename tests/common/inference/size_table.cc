#include "tests/common/inference/size_table.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "common/inference/machine_comparison.h"
#include "common/inference/machine_variation.h"

namespace fieldcost::inference {
namespace {

constexpr double kTypical = 12;  // octaves
constexpr double kWithin = 0.6;
constexpr int kUsers = 10;
constexpr double kHalfMore = 0.5849625007211562;  // log2 of 1.5

}  // namespace

double SimulatedFleet::Effect() {
  switch (plan_.effects) {
    case Effects::kNormal:
      return octaves_ * normal_(random_);
    case Effects::kExponential:
      return octaves_ * (std::exponential_distribution<double>()(random_) - 1);
    case Effects::kLognormal: {
      constexpr double kDeviation = 0.5;
      const double mean = std::exp(kDeviation * kDeviation / 2);
      const double deviation = mean * std::sqrt(std::exp(kDeviation * kDeviation) - 1);
      return octaves_ * (std::exp(kDeviation * normal_(random_)) - mean) / deviation;
    }
    case Effects::kFewSlow: {
      constexpr double kShare = 0.05;
      constexpr double kSlower = 8;  // times the others' deviation
      const double deviation = std::sqrt(1 + kSlower * kSlower * kShare * (1 - kShare));
      const bool is_slow = std::bernoulli_distribution(kShare)(random_);
      return octaves_ * (normal_(random_) + (is_slow ? kSlower : 0) - kSlower * kShare) / deviation;
    }
  }
  return 0;
}

stats::ContributionScalars SimulatedFleet::Contribution(double effect) {
  const auto calls = std::uniform_int_distribution<std::uint64_t>(50, 400)(random_);
  const double mean = kTypical + effect + octaves_ / 3 * normal_(random_) +
                      kWithin * normal_(random_) / std::sqrt(static_cast<double>(calls));
  const double squares =
      kWithin * kWithin *
      std::chi_squared_distribution<double>(static_cast<double>(calls - 1))(random_);
  const stats::Int128 step = static_cast<std::int64_t>(std::floor(mean * 0x1p16));
  return {.contributions = 1,
          .sum_mean = step,
          .sum_mean_squared = static_cast<stats::Uint128>(step * step),
          .sum_inverse_calls = (std::uint64_t{1} << 32) / calls,
          .sum_within_squares = static_cast<stats::Uint128>(squares * 0x1p32),
          .sum_within_freedom = calls - 1,
          .sum_mean_cubed = step * step * step};
}

stats::ContributionScalars SimulatedFleet::FullestQuarter(double more) {
  std::vector<double> effects(static_cast<std::size_t>(plan_.machines));
  for (double& effect : effects) effect = Effect() + more;
  const std::size_t steady = plan_.comings == Comings::kAlways     ? effects.size()
                             : plan_.comings == Comings::kCanaries ? 3
                                                                   : effects.size() / 4;
  stats::ContributionScalars fullest;
  for (int week = 1; week <= plan_.weeks; ++week) {
    stats::ContributionScalars scalars;
    for (std::size_t machine = 0; machine < effects.size(); ++machine) {
      if (machine >= steady) {
        if (plan_.comings == Comings::kCanaries && week != plan_.weeks) break;
        if (plan_.comings == Comings::kChurn) effects[machine] = Effect() + more;
      }
      scalars.Merge(Contribution(effects[machine]));
    }
    if (scalars.contributions >= fullest.contributions) fullest = scalars;
  }
  return fullest;
}

Sizes SizesOfCheck(const FleetPlan& plan, double octaves, int fleets, std::uint64_t seed) {
  SimulatedFleet fleet(plan, octaves, seed);
  Sizes sizes;
  for (int i = 0; i < fleets; ++i) {
    const stats::ContributionScalars field = fleet.FullestQuarter();
    for (int user = 0; user < kUsers; ++user) {
      const double p = TestMachine(fleet.User(), field).p;
      if (p <= 0.05) ++sizes.at_5_percent;
      if (p <= 0.001) ++sizes.at_0_1_percent;
      if (TestMachine(fleet.User(kHalfMore), field).p <= 0.01) ++sizes.half_more;
      if (TestMachine(fleet.User(1), field).p <= 0.01) ++sizes.twice;
    }
  }
  const double all = static_cast<double>(fleets) * kUsers;
  return {sizes.at_5_percent / all, sizes.at_0_1_percent / all, sizes.half_more / all,
          sizes.twice / all};
}

Sizes SizesOfDiff(const FleetPlan& before, const FleetPlan& after, double octaves, int pairs,
                  std::uint64_t seed) {
  SimulatedFleet old_fleet(before, octaves, seed);
  SimulatedFleet new_fleet(after, octaves, ~seed);
  Sizes sizes;
  for (int i = 0; i < pairs; ++i) {
    const stats::ContributionScalars old_week = old_fleet.FullestQuarter();
    const auto p = [&](double more) {
      const MachineStratum stratum{old_week, new_fleet.FullestQuarter(more)};
      return CompareMachines({&stratum, 1}).p;
    };
    const double p_equal = p(0);
    if (p_equal <= 0.05) ++sizes.at_5_percent;
    if (p_equal <= 0.001) ++sizes.at_0_1_percent;
    if (i % 10 != 0) continue;
    if (p(kHalfMore) <= 0.01) ++sizes.half_more;
    if (p(1) <= 0.01) ++sizes.twice;
  }
  const auto all = static_cast<double>(pairs);
  const double tenth = std::ceil(all / 10);
  return {sizes.at_5_percent / all, sizes.at_0_1_percent / all, sizes.half_more / tenth,
          sizes.twice / tenth};
}

}  // namespace fieldcost::inference
