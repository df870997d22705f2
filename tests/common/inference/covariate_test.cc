#include "common/inference/covariate.h"

#include <gtest/gtest.h>

#include <vector>

namespace fieldcost::inference {
namespace {

using Values = std::vector<double>;

// Worked by hand: within the groups the sums of products are 10, 6 and 4, so the slope is 1.5, and
// 1 remains over 3 degrees of freedom. The means are 2 and 6, those of the covariates 1 and 2.
TEST(DifferenceGivenTest, TakesOutWhatTheCovariateExplains) {
  const Values a = {0, 2, 4};
  const Values a_covariates = {0, 1, 2};
  const Values b = {5, 6, 7};
  const Values b_covariates = {1, 2, 3};
  const AdjustedDifference found = DifferenceGiven({a, a_covariates}, {b, b_covariates}, 0.95);
  EXPECT_NEAR(found.difference, 2.5, 1e-12);
  // t = 2.5 / sqrt(1 / 3 * (2 / 3 + 1 / 4)) = 4.5227 with 3 degrees of freedom.
  EXPECT_NEAR(found.p, 0.0202, 1e-4);
  EXPECT_NEAR(found.interval.low, 2.5 - 3.182446 * 0.5527708, 1e-5);
  EXPECT_NEAR(found.interval.high, 2.5 + 3.182446 * 0.5527708, 1e-5);
  const AdjustedDifference back = DifferenceGiven({b, b_covariates}, {a, a_covariates}, 0.95);
  EXPECT_NEAR(back.difference, -found.difference, 1e-12);
  EXPECT_NEAR(back.p, found.p, 1e-12);
}

TEST(DifferenceGivenTest, FindsADifferenceThatTheCovariateHid) {
  const Values a = {1, 5, 2, 8, 3};
  const Values waits = {0, 4, 1, 7, 2};
  const Values b = {1.5, 5.4, 2.6, 8.5, 3.5};
  EXPECT_GT(WelchP(MomentsOf(a), MomentsOf(b)), 0.5);
  EXPECT_LT(DifferenceGiven({a, waits}, {b, waits}, 0.95).p, 1e-5);
}

TEST(DifferenceGivenTest, ACovariateThatNeverVariesLeavesWelchsTest) {
  const Values a = {1, 2, 4};
  const Values b = {3, 3, 7, 9};
  const Values same_a(a.size(), 1);
  const Values same_b(b.size(), 1);
  const AdjustedDifference found = DifferenceGiven({a, same_a}, {b, same_b}, 0.9);
  EXPECT_EQ(found.p, WelchP(MomentsOf(a), MomentsOf(b)));
  EXPECT_EQ(found.interval.low, WelchInterval(MomentsOf(a), MomentsOf(b), 0.9).low);
}

TEST(DifferenceGivenTest, WithoutResidualVarianceThePValueIsZeroOrOne) {
  const Values a = {0, 1, 2};
  const Values more = {1, 2, 3};
  EXPECT_EQ(DifferenceGiven({a, a}, {a, a}, 0.95).p, 1);
  EXPECT_EQ(DifferenceGiven({a, a}, {more, a}, 0.95).p, 0);
  EXPECT_DEATH(DifferenceGiven({a, {}}, {a, a}, 0.95), "covariates.size");
}

}  // namespace
}  // namespace fieldcost::inference
