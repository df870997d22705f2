#include "common/inference/machine_variation.h"

#include <gtest/gtest.h>

#include "tests/common/inference/golden_calls.h"
#include "tests/common/stats/fleet_of_machines.h"

namespace fieldcost::inference {
namespace {

TEST(MachineVariationTest, ValuesAreThoseOfScipy) {
  int compared = 0;
  for (const GoldenCase& golden : ReadGoldenCases("machines.txt")) {
    stats::ApiSums field;
    for (const BucketCounts& machine : golden.counts.at("machine")) {
      stats::FleetOfMachines::Contribute(GoldenCase::Histogram(machine), field);
    }
    stats::ContributionScalars scalars = field.scalars;
    // scipy has only Student's test, which is used if the means are skewed to the left.
    scalars.sum_mean_cubed -= stats::Int128{1} << 80;
    const MachineTest test =
        TestMachine(GoldenCase::Histogram(golden.counts.at("mine")[0]), scalars);
    EXPECT_NEAR(test.t, golden.numbers.at("t"), 1e-7 * std::abs(golden.numbers.at("t")))
        << golden.name;
    EXPECT_NEAR(test.p / golden.numbers.at("p"), 1, 1e-6) << golden.name;
    ++compared;
  }
  EXPECT_EQ(compared, 6);
}

struct FlaggedShare {
  double machines = 0;
  double calls = 0;
};

// Returns how many healthy users, each on a machine like the field's, look worse at 5 %.
FlaggedShare FlaggedAtFivePercent(double octaves_between_machines, int fields, bool also_calls) {
  constexpr int kMachines = 100;
  constexpr int kUsers = 20;
  stats::FleetOfMachines fleet(octaves_between_machines, 6);
  FlaggedShare flagged;
  for (int i = 0; i < fields; ++i) {
    const stats::ApiSums field = fleet.Field(kMachines);
    for (int user = 0; user < kUsers; ++user) {
      const stats::CostHistogram mine = fleet.Machine();
      if (TestMachine(mine, field.scalars).p <= 0.05) ++flagged.machines;
      if (!also_calls) continue;
      if (TestCalls(CountsOf(mine, field.histogram)).by_bucket.p <= 0.05) ++flagged.calls;
    }
  }
  flagged.machines /= fields * kUsers;
  flagged.calls /= fields * kUsers;
  return flagged;
}

TEST(MachineVariationTest, FlagsAtMostSixPercentOfHealthyUsersAtFivePercent) {
  for (const double octaves : {0.0, 0.1, 0.3, 0.6}) {
    const FlaggedShare flagged = FlaggedAtFivePercent(octaves, 100, false);  // 2,000 users
    EXPECT_LE(flagged.machines, 0.06) << octaves;
    EXPECT_GE(flagged.machines, 0.03) << octaves << ": no longer a test of that size";
  }
}

// Shows why comparing only calls does not suffice.
TEST(MachineVariationTest, ComparingCallsAloneFlagsManyHealthyUsers) {
  EXPECT_LE(FlaggedAtFivePercent(0, 10, true).calls, 0.1);
  EXPECT_GE(FlaggedAtFivePercent(0.3, 10, true).calls, 0.2);
}

TEST(MachineVariationTest, SlowMachinesAreFlagged) {
  stats::FleetOfMachines fleet(0.3, 7);
  const stats::ApiSums field = fleet.Field(60);
  int flagged = 0;
  for (int user = 0; user < 100; ++user) {
    const MachineTest test = TestMachine(fleet.Machine(1.5), field.scalars);
    if (test.p <= 0.05) ++flagged;
    EXPECT_NEAR(test.octaves_above, 1.5, 1.5);
  }
  EXPECT_GE(flagged, 95);
}

TEST(MachineVariationTest, RaisingMyCostsNeverLowersT) {
  stats::FleetOfMachines fleet(0.4, 8);
  const stats::ApiSums field = fleet.Field(40);
  stats::CostHistogram mine = fleet.Machine();
  MachineTest before = TestMachine(mine, field.scalars);
  for (int step = 0; step < 10; ++step) {
    stats::CostHistogram raised;  // moves every call to the next bucket
    for (unsigned slot = 0; slot + 1 < shm::kBucketSlots; ++slot) {
      const stats::Bucket& bucket = mine.bucket(slot);
      raised.SetBucket(slot + 1,
                       {.count = bucket.count,
                        .sum = slot == 0 ? bucket.count : 2 * bucket.sum,
                        .sum_of_squares = slot == 0 ? bucket.count : 4 * bucket.sum_of_squares});
    }
    const MachineTest after = TestMachine(raised, field.scalars);
    EXPECT_GT(after.t, before.t);
    EXPECT_LT(after.p, before.p);
    mine = raised;
    before = after;
  }
}

TEST(MachineVariationTest, TheOrderOfContributionsDoesNotMatter) {
  stats::FleetOfMachines fleet(0.4, 9);
  std::vector<stats::CostHistogram> machines;
  for (int i = 0; i < 40; ++i) machines.push_back(fleet.Machine());
  stats::ApiSums forth;
  stats::ApiSums back;
  for (const auto& machine : machines) stats::FleetOfMachines::Contribute(machine, forth);
  for (auto it = machines.rbegin(); it != machines.rend(); ++it) {
    stats::FleetOfMachines::Contribute(*it, back);
  }
  const stats::CostHistogram mine = fleet.Machine();
  EXPECT_EQ(TestMachine(mine, forth.scalars).p, TestMachine(mine, back.scalars).p);
}

TEST(MachineVariationTest, ConstantCostsHaveFiniteTestsToo) {
  stats::CostHistogram cheap;
  stats::CostHistogram dear;
  for (int i = 0; i < 100; ++i) cheap.Add(24);
  for (int i = 0; i < 100; ++i) dear.Add(48);
  stats::ApiSums field;
  for (int i = 0; i < 40; ++i) stats::FleetOfMachines::Contribute(cheap, field);
  EXPECT_EQ(TestMachine(cheap, field.scalars).p, 0.5);
  const MachineTest test = TestMachine(dear, field.scalars);
  EXPECT_GT(test.p, 0);
  EXPECT_LT(test.p, 1e-20);
  EXPECT_NEAR(test.octaves_above, 1, 1e-4);
}

TEST(MachineVariationTest, WithoutMachinesOrCallsThereIsNoEvidence) {
  stats::FleetOfMachines fleet(0.4, 10);
  EXPECT_EQ(TestMachine(fleet.Machine(), fleet.Field(1).scalars).p, 1);
  EXPECT_EQ(TestMachine(fleet.Machine(), {}).p, 1);
  EXPECT_EQ(TestMachine(stats::CostHistogram(), fleet.Field(40).scalars).p, 1);
}

}  // namespace
}  // namespace fieldcost::inference
