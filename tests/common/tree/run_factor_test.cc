#include "common/tree/run_factor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fieldcost::tree {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::Pointwise;
using Self = std::vector<std::vector<double>>;

TEST(RunFactorTest, IsWhatAllPathsOfARunHaveInCommon) {
  const std::vector<double> usual = {10, 20, 30, 40, 50, 60};
  std::vector<double> slow = usual;
  for (double& value : slow) value *= 1.5;
  const std::vector<double> factors = RunFactors(Self{usual, slow, usual, slow}, 2, 1);
  EXPECT_THAT(factors, Pointwise(DoubleNear(1e-12), {0.8, 1.2, 0.8, 1.2}));
}

TEST(RunFactorTest, DominatingPathIsNotACommonFactor) {
  const std::vector<double> before = {900, 20, 20, 20, 20, 20};
  std::vector<double> after = before;
  after[0] = 1800;
  EXPECT_THAT(RunFactors(Self{before, before, after, after}, 2, 1), ElementsAre(1, 1, 1, 1));
}

TEST(RunFactorTest, AmongFewPathsEachWeighsTheSame) {
  EXPECT_THAT(RunFactors(Self{{600, 250, 150}, {900, 250, 150}}, 1, 1), ElementsAre(1, 1));
  EXPECT_THAT(RunFactors(Self{{5}, {15}}, 1, 1), ElementsAre(0.5, 1.5));
}

TEST(RunFactorTest, IgnoresPathsBelowTheLeast) {
  const Self self = {{100, 1, 1, 1}, {100, 9, 9, 9}};
  EXPECT_THAT(RunFactors(self, 1, 20), ElementsAre(1, 1));
}

TEST(RunFactorTest, IsOneWhereNothingIsKnown) {
  EXPECT_THAT(RunFactors(Self{{0, 0}, {0, 0}}, 1, 0), ElementsAre(1, 1));
  EXPECT_THAT(RunFactors(Self{{0, 0}, {5, 6}}, 1, 0), ElementsAre(1, 2));
  EXPECT_DEATH((void)RunFactors(Self{{1}}, 1, 0), "runs_before");
}

}  // namespace
}  // namespace fieldcost::tree
