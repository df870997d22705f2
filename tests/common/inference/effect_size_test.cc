#include "common/inference/effect_size.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace fieldcost::inference {
namespace {

stats::CostHistogram Calls(std::uint64_t count, std::uint64_t value) {
  stats::CostHistogram histogram;
  for (; count > 0; --count) histogram.Add(value);
  return histogram;
}

double Delta(const stats::CostHistogram& before, const stats::CostHistogram& after) {
  return CliffsDelta({.histogram = &before}, {.histogram = &after});
}

TEST(EffectSizeTest, PairsOfDifferentBucketsAreCounted) {
  stats::CostHistogram before = Calls(300, 16);
  before.Merge(Calls(100, 64));
  stats::CostHistogram after = Calls(50, 64);
  after.Merge(Calls(50, 256));
  // Greater in 50 * 300 + 50 * 400 of 100 * 400 pairs, equal in 50 * 100.
  EXPECT_DOUBLE_EQ(Delta(before, after), 35000.0 / 40000);
  EXPECT_DOUBLE_EQ(Delta(after, before), -35000.0 / 40000);
}

TEST(EffectSizeTest, AShiftWithinABucketIsSeen) {
  EXPECT_EQ(Delta(Calls(10, 1100), Calls(10, 1900)), 1);
  EXPECT_EQ(Delta(Calls(10, 1900), Calls(10, 1100)), -1);
  EXPECT_EQ(Delta(Calls(10, 1100), Calls(5, 1100)), 0);
}

TEST(EffectSizeTest, NormalCostsHaveTheirKnownDelta) {
  std::mt19937_64 random(70);
  for (const double deviation : {30.0, 300.0, 1000.0}) {
    for (const double shift : {0.0, 0.3, 1.0}) {
      std::normal_distribution<double> cost(6000, deviation);
      stats::CostHistogram before;
      stats::CostHistogram after;
      for (int i = 0; i < 20'000; ++i) {
        before.Add(static_cast<std::uint64_t>(cost(random)));
        after.Add(static_cast<std::uint64_t>(cost(random) + shift * deviation));
      }
      EXPECT_NEAR(Delta(before, after), std::erf(shift / 2), 0.02) << deviation << " " << shift;
    }
  }
}

TEST(EffectSizeTest, WithWeightsEveryContributionCountsTheSame) {
  const stats::CostHistogram loud = Calls(1'000'000 / 100, 4096);
  const stats::CostHistogram quiet = Calls(10, 16);
  stats::CostHistogram after = loud;
  stats::AgentWeights weights = stats::WeightsOf(loud);
  for (int machine = 0; machine < 3; ++machine) {
    after.Merge(quiet);
    weights.Merge(stats::WeightsOf(quiet));
  }
  const stats::CostHistogram before = Calls(100, 256);
  const stats::AgentWeights before_weights = stats::WeightsOf(before);
  EXPECT_GT(Delta(before, after), 0.99);
  EXPECT_DOUBLE_EQ(CliffsDelta({&before, &before_weights}, {&after, &weights}), 0.25 - 0.75);
}

TEST(EffectSizeTest, WithoutCostsThereIsNoEffect) {
  EXPECT_EQ(Delta({}, {}), 0);
  EXPECT_EQ(Delta({}, Calls(3, 4)), 0);
  EXPECT_EQ(Delta(Calls(3, 4), {}), 0);
}

}  // namespace
}  // namespace fieldcost::inference
