#include "common/inference/machine_comparison.h"

#include <gtest/gtest.h>

#include <vector>

#include "common/inference/tails.h"
#include "tests/common/inference/golden_calls.h"
#include "tests/common/stats/fleet_of_machines.h"

namespace fieldcost::inference {
namespace {

stats::ContributionScalars Group(const stats::ApiSums& sums) { return sums.scalars; }

MachineComparison Compare(const MachineStratum& stratum) { return CompareMachines({&stratum, 1}); }

TEST(MachineComparisonTest, ValuesAreThoseOfScipy) {
  int compared = 0;
  for (const GoldenCase& golden : ReadGoldenCases("versions.txt")) {
    const auto sums = [&](const std::string& key) {
      stats::ApiSums side;
      for (const BucketCounts& machine : golden.counts.at(key)) {
        stats::FleetOfMachines::Contribute(GoldenCase::Histogram(machine), side);
      }
      return Group(side);
    };
    std::vector<MachineStratum> strata;
    for (int i = 0; golden.counts.contains(fmt::format("before{}", i)); ++i) {
      strata.push_back({sums(fmt::format("before{}", i)), sums(fmt::format("after{}", i))});
    }
    const MachineComparison test = CompareMachines(strata);
    const auto expected = [&](const char* name) { return golden.numbers.at(name); };
    EXPECT_NEAR(test.t, expected("t"), 2e-4 * std::abs(expected("t")) + 1e-4) << golden.name;
    EXPECT_NEAR(test.p / expected("p"), 1, 2e-3) << golden.name;
    EXPECT_NEAR(test.octaves, expected("octaves"), 1e-4) << golden.name;
    EXPECT_NEAR(test.ConfidenceInterval(0.95).low, expected("low"), 2e-4) << golden.name;
    ++compared;
  }
  EXPECT_EQ(compared, 6);
}

// Returns how often versions of equal cost are reported as different at 5 %.
double ToldApart(double between, int machines, int times, unsigned strata) {
  stats::FleetOfMachines fleet(between, 60);
  int told = 0;
  for (int i = 0; i < times; ++i) {
    std::vector<MachineStratum> both;
    for (unsigned stratum = 0; stratum < strata; ++stratum) {
      both.push_back({Group(fleet.Field(machines)), Group(fleet.Field(machines * 2 / 3))});
    }
    if (CompareMachines(both).p <= 0.05) ++told;
  }
  return static_cast<double>(told) / times;
}

TEST(MachineComparisonTest, FlagsAtMostSixPercentOfEqualVersionsAtFivePercent) {
  for (const double octaves : {0.0, 0.1, 0.3, 0.6}) {
    EXPECT_LE(ToldApart(octaves, 18, 2000, 1), 0.06) << octaves;
  }
  EXPECT_LE(ToldApart(0.6, 9, 600, 3), 0.065);
  EXPECT_GE(ToldApart(0.6, 18, 600, 1), 0.03) << "no longer a test of that size";
}

// If contributions of several weeks were treated as those of different machines, machines that
// return for 12 weeks would make equal versions appear different in more than a third of the cases.
// Their fullest quarter does not.
TEST(MachineComparisonTest, MachinesThatComeBackEveryWeekCountOnce) {
  constexpr int kWeeks = 12;
  stats::FleetOfMachines fleet(0.6, 61);
  int naive = 0;
  int counted = 0;
  constexpr int kTimes = 300;
  for (int i = 0; i < kTimes; ++i) {
    MachineStratum one_week;
    MachineStratum all_weeks;
    for (const auto side : {&MachineStratum::before, &MachineStratum::after}) {
      for (int machine = 0; machine < 20; ++machine) {
        const stats::ContributionScalars one = stats::ScalarsOf(fleet.Machine());
        (one_week.*side).Merge(one);
        for (int week = 0; week < kWeeks; ++week) (all_weeks.*side).Merge(one);
      }
    }
    if (Compare(one_week).p <= 0.05) ++counted;
    if (Compare(all_weeks).p <= 0.05) ++naive;
  }
  EXPECT_LE(counted, kTimes / 10);
  EXPECT_GE(naive, kTimes / 3);
}

TEST(MachineComparisonTest, DifferentMixOfMachinesIsNotAChange) {
  stats::FleetOfMachines fleet(0.3, 62);
  const auto side = [&](int slow, int fast) {
    std::pair<stats::ApiSums, stats::ApiSums> sums;
    for (; slow > 0; --slow) stats::FleetOfMachines::Contribute(fleet.Machine(3), sums.first);
    for (; fast > 0; --fast) stats::FleetOfMachines::Contribute(fleet.Machine(0), sums.second);
    return sums;
  };
  const auto before = side(180, 20);
  const auto after = side(20, 180);
  const auto all = [](const auto& sums) {
    stats::ApiSums both = sums.first;
    both.scalars.Merge(sums.second.scalars);
    return Group(both);
  };
  const MachineComparison mixed = Compare({all(before), all(after)});
  EXPECT_LT(mixed.p, 1e-10);
  EXPECT_LT(mixed.octaves, -2);  // "eight times faster on the whole"
  const std::vector<MachineStratum> strata = {{Group(before.first), Group(after.first)},
                                              {Group(before.second), Group(after.second)}};
  const MachineComparison stratified = CompareMachines(strata);
  EXPECT_GT(stratified.p, 0.01);
  EXPECT_NEAR(stratified.octaves, 0, 0.25);
  EXPECT_EQ(stratified.strata, 2U);
  EXPECT_EQ(stratified.machines_before, 200U);
  EXPECT_EQ(stratified.machines_after, 200U);
}

TEST(MachineComparisonTest, ExchangingTheVersionsTurnsTheSign) {
  stats::FleetOfMachines fleet(0.4, 63);
  const stats::ContributionScalars one = Group(fleet.Field(30));
  const stats::ContributionScalars other = Group(fleet.Field(50));
  const MachineComparison forth = Compare({one, other});
  const MachineComparison back = Compare({other, one});
  EXPECT_DOUBLE_EQ(forth.octaves, -back.octaves);
  EXPECT_DOUBLE_EQ(forth.p, back.p);
  EXPECT_DOUBLE_EQ(forth.ConfidenceInterval(0.9).low, -back.ConfidenceInterval(0.9).high);
}

TEST(MachineComparisonTest, WithoutTwoMachinesOnBothSidesThereIsNoEvidence) {
  stats::FleetOfMachines fleet(0.4, 64);
  const stats::ContributionScalars many = Group(fleet.Field(30));
  for (const MachineStratum& stratum :
       {MachineStratum{many, Group(fleet.Field(1))}, MachineStratum{{}, many}, MachineStratum{}}) {
    const MachineComparison test = Compare(stratum);
    EXPECT_EQ(test.p, 1);
    EXPECT_EQ(test.strata, 0U);
    EXPECT_TRUE(std::isinf(test.ConfidenceInterval(0.95).high));
  }
  EXPECT_EQ(CompareMachines({}).p, 1);
}

TEST(MachineComparisonTest, ConstantCostsHaveFiniteTestsToo) {
  stats::CostHistogram cheap;
  stats::CostHistogram dear;
  for (int i = 0; i < 100; ++i) cheap.Add(24);
  for (int i = 0; i < 100; ++i) dear.Add(48);
  stats::ApiSums before;
  stats::ApiSums after;
  for (int i = 0; i < 40; ++i) stats::FleetOfMachines::Contribute(cheap, before);
  for (int i = 0; i < 40; ++i) stats::FleetOfMachines::Contribute(dear, after);
  EXPECT_EQ(Compare({Group(before), Group(before)}).p, 1);
  const MachineComparison test = Compare({Group(before), Group(after)});
  EXPECT_GT(test.p, 0);
  EXPECT_LT(test.p, 1e-20);
  EXPECT_NEAR(test.octaves, 1, 1e-4);
}

TEST(TailsTest, AQuantileHasThatTail) {
  for (const double freedom : {1.0, 3.5, 29.0, 1e6}) {
    for (const double p : {1e-9, 0.025, 0.5, 0.9}) {
      EXPECT_NEAR(StudentTUpperTail(StudentTUpperQuantile(p, freedom), freedom) / p, 1, 1e-9);
    }
  }
}

// With two degrees of freedom it is exponential, with one the square of a normal variable.
TEST(TailsTest, ChiSquaredIsASumOfSquaresOfNormalVariables) {
  for (const double x : {0.0, 0.5, 2.0, 50.0}) {
    EXPECT_NEAR(ChiSquaredUpperTail(x, 2) / std::exp(-x / 2), 1, 1e-9) << x;
    EXPECT_NEAR(ChiSquaredUpperTail(x, 1) / (2 * NormalUpperTail(std::sqrt(x))), 1, 1e-9) << x;
  }
  EXPECT_DEATH((void)ChiSquaredUpperTail(-1, 2), "x >= 0");
}

// A gamma distribution of shape 1 is exponential, one of shape 2 the sum of two exponentials.
TEST(TailsTest, PearsonsTypeThreeIsAMovedGammaDistribution) {
  for (const double z : {-0.9, 0.0, 1.5, 20.0}) {
    EXPECT_NEAR(PearsonUpperTail(z, 2) / std::exp(-1 - z), 1, 1e-9) << z;
    const double x = 2 + z * std::sqrt(2.0);
    EXPECT_NEAR(PearsonUpperTail(z, std::sqrt(2.0)) / (std::exp(-x) * (1 + x)), 1, 1e-9) << z;
  }
  EXPECT_EQ(PearsonUpperTail(-1, 2), 1);
  for (const double z : {-3.0, 0.0, 3.0}) {
    EXPECT_EQ(PearsonUpperTail(z, 0), NormalUpperTail(z));
    EXPECT_NEAR(PearsonUpperTail(z, 0.001), NormalUpperTail(z), 1e-3);
    EXPECT_NEAR(NormalUpperQuantile(NormalUpperTail(z)), z, 1e-9);
  }
}

}  // namespace
}  // namespace fieldcost::inference
