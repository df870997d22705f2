#include "common/inference/welch.h"

#include <gtest/gtest.h>

#include <vector>

namespace fieldcost::inference {
namespace {

// R: t.test(c(30.02,29.99,30.11,29.97,30.01,29.99), c(29.89,29.93,29.72,29.98,30.02,29.98))
TEST(WelchTest, TheTextbookExample) {
  const Moments a = MomentsOf(std::vector<double>{30.02, 29.99, 30.11, 29.97, 30.01, 29.99});
  const Moments b = MomentsOf(std::vector<double>{29.89, 29.93, 29.72, 29.98, 30.02, 29.98});
  EXPECT_NEAR(a.mean, 30.015, 1e-9);
  EXPECT_NEAR(a.variance, 0.00247, 1e-9);
  EXPECT_NEAR(WelchP(a, b), 0.09077, 1e-4);
  EXPECT_EQ(WelchP(a, b), WelchP(b, a));
  EXPECT_EQ(WelchP(a, a), 1);
}

// R: the same t.test()$conf.int, of the second minus the first
TEST(WelchTest, TheIntervalOfTheDifferenceHolds0UnlessTheTestRejects) {
  const Moments a = MomentsOf(std::vector<double>{30.02, 29.99, 30.11, 29.97, 30.01, 29.99});
  const Moments b = MomentsOf(std::vector<double>{29.89, 29.93, 29.72, 29.98, 30.02, 29.98});
  const DifferenceInterval interval = WelchInterval(a, b, 0.95);
  EXPECT_NEAR(interval.low, -0.2096, 2e-4);
  EXPECT_NEAR(interval.high, 0.0196, 2e-4);
  const double p = WelchP(a, b);
  EXPECT_GT(WelchInterval(a, b, 1 - p + 1e-6).high, 0);
  EXPECT_LT(WelchInterval(a, b, 1 - p - 1e-6).high, 0);
  EXPECT_NEAR(WelchInterval(b, a, 0.95).low, -interval.high, 1e-12);
  const Moments one = MomentsOf(std::vector<double>{1, 1});
  const Moments two = MomentsOf(std::vector<double>{2, 2, 2});
  EXPECT_EQ(WelchInterval(one, two, 0.95).low, 1);
  EXPECT_EQ(WelchInterval(one, two, 0.95).high, 1);
  EXPECT_DEATH(WelchInterval(one, two, 1), "level");
}

TEST(WelchTest, WithoutVarianceThePValueIsZeroOrOne) {
  const Moments one = MomentsOf(std::vector<double>{1, 1});
  const Moments two = MomentsOf(std::vector<double>{2, 2, 2});
  EXPECT_EQ(WelchP(one, one), 1);
  EXPECT_EQ(WelchP(one, two), 0);
  EXPECT_DEATH(WelchP(MomentsOf(std::vector<double>{1}), two), "a.count");
  EXPECT_DEATH(MomentsOf({}), "values.empty");
}

TEST(WelchTest, AWeightedMedianHasHalfOfTheWeightOnEitherSide) {
  EXPECT_EQ(WeightedMedian(std::vector<double>{3, 1, 2}, std::vector<double>{1, 1, 1}), 2);
  EXPECT_EQ(WeightedMedian(std::vector<double>{3, 1, 2}, std::vector<double>{5, 1, 1}), 3);
  EXPECT_EQ(WeightedMedian(std::vector<double>{3, 1, 2}, std::vector<double>{1, 5, 1}), 1);
  EXPECT_EQ(WeightedMedian(std::vector<double>{4, 1}, std::vector<double>{1, 1}), 1);
  EXPECT_EQ(WeightedMedian({}, {}), 0);
  EXPECT_DEATH(WeightedMedian(std::vector<double>{1}, {}), "values.size");
}

}  // namespace
}  // namespace fieldcost::inference
