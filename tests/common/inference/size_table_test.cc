#include "tests/common/inference/size_table.h"

#include <gtest/gtest.h>

#include <array>

namespace fieldcost::inference {
namespace {

constexpr std::array<double, 4> kOctaves = {0.0, 0.1, 0.3, 0.6};
constexpr int kFleets = 400;
constexpr int kPairs = 2000;

// A short version of the tables in common/inference/COMPARISONS.md; `size_table` prints the long
// one. Allows 6 % and 0.5 %, plus twice the standard error of this small number of fleets.
void ExpectSize(const Sizes& sizes, double comparisons, const FleetPlan& plan, double octaves) {
  EXPECT_LE(sizes.at_5_percent, 0.06 + 2 * std::sqrt(0.06 / comparisons)) << plan.name << octaves;
  EXPECT_GE(sizes.at_5_percent, 0.02) << plan.name << octaves << ": no longer a test of that size";
  EXPECT_LE(sizes.at_0_1_percent, 0.005 + 2 * std::sqrt(0.005 / comparisons))
      << plan.name << octaves;
}

TEST(SizeTableTest, HealthyUsersAreNotFlaggedInAnyFleet) {
  for (const FleetPlan& plan : {
           FleetPlan{"30 x 12", 30, 12},
           FleetPlan{"120", 120, 1},
           FleetPlan{"canaries", 30, 12, Comings::kCanaries},
           FleetPlan{"churn", 40, 12, Comings::kChurn},
           FleetPlan{"30, exponential", 30, 1, Comings::kAlways, Effects::kExponential},
           FleetPlan{"120, exponential", 120, 1, Comings::kAlways, Effects::kExponential},
           FleetPlan{"60, lognormal", 60, 1, Comings::kAlways, Effects::kLognormal},
       }) {
    for (const double octaves : kOctaves) {
      ExpectSize(SizesOfCheck(plan, octaves, kFleets, 71), 10 * kFleets, plan, octaves);
    }
  }
}

TEST(SizeTableTest, EqualVersionsDoNotDifferInAnyFleet) {
  for (const FleetPlan& plan : {
           FleetPlan{"30", 30, 1},
           FleetPlan{"30 x 52", 30, 52},
           FleetPlan{"canaries", 30, 12, Comings::kCanaries},
           FleetPlan{"churn", 40, 12, Comings::kChurn},
           FleetPlan{"30, exponential", 30, 1, Comings::kAlways, Effects::kExponential},
       }) {
    for (const double octaves : kOctaves) {
      ExpectSize(SizesOfDiff(plan, plan, octaves, kPairs, 72), kPairs, plan, octaves);
    }
  }
}

TEST(SizeTableTest, YoungFleetsAndReturningOnesSeeADoubledCost) {
  for (const int weeks : {1, 12, 52}) {
    const FleetPlan plan{"30", 30, weeks};
    EXPECT_GE(SizesOfDiff(plan, plan, 0.3, 200, 73).twice, 0.99) << weeks;
  }
  EXPECT_GE(SizesOfCheck({"60", 60, 1}, 0.1, 100, 74).twice, 0.99);
}

}  // namespace
}  // namespace fieldcost::inference
