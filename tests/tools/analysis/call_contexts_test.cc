#include "tools/analysis/call_contexts.h"

#include <gtest/gtest.h>

namespace fieldcost::analysis {
namespace {

ContextCost Cost(double cost, double calls, std::size_t function = 0, double runs = 5) {
  return {.function = function,
          .cost = {.count = runs, .mean = cost, .variance = cost * cost / 10'000},
          .calls = calls};
}

TEST(CallContextsTest, ComparesACallWithTheCallsFromElsewhere) {
  const std::vector<ContextCost> contexts = {Cost(1000, 100), Cost(1100, 100), Cost(400, 10)};
  const auto compared = CompareContexts(contexts);
  ASSERT_EQ(compared.size(), 3U);
  EXPECT_DOUBLE_EQ(compared[2]->ratio, 40.0 / 10.5);
  EXPECT_LT(compared[2]->q.value(), 0.001);
  EXPECT_TRUE(compared[2]->deviates);
  EXPECT_FALSE(compared[0]->deviates);
  EXPECT_FALSE(compared[1]->deviates);
}

TEST(CallContextsTest, OfTwoContextsOnlyTheDearerOneDeviates) {
  const auto compared = CompareContexts(std::vector{Cost(1000, 100), Cost(9000, 300)});
  EXPECT_DOUBLE_EQ(compared[0]->ratio, 1 / 3.0);
  EXPECT_FALSE(compared[0]->deviates);
  EXPECT_TRUE(compared[1]->deviates);
}

TEST(CallContextsTest, SmallDifferencesAndUncertainOnesDoNotDeviate) {
  EXPECT_FALSE(CompareContexts(std::vector{Cost(1000, 100), Cost(1200, 100)})[1]->deviates);
  std::vector<ContextCost> noisy = {Cost(1000, 100), Cost(3000, 100)};
  noisy[1].cost.variance = 4e6;
  const auto compared = CompareContexts(noisy);
  EXPECT_DOUBLE_EQ(compared[1]->ratio, 3);
  EXPECT_GT(compared[1]->q.value(), 0.01);
  EXPECT_FALSE(compared[1]->deviates);
}

TEST(CallContextsTest, TwoRunsAreTooFewToMarkAContext) {
  const auto compared = CompareContexts(std::vector{Cost(1000, 100, 0, 2), Cost(9000, 100, 0, 2)});
  EXPECT_DOUBLE_EQ(compared[1]->ratio, 9);
  EXPECT_EQ(compared[1]->q, std::nullopt);
  EXPECT_FALSE(compared[1]->deviates);
}

TEST(CallContextsTest, ComparesOnlyCountedCallsOfTheSameFunction) {
  const auto compared = CompareContexts(std::vector{
      Cost(1000, 100), Cost(9000, 0), Cost(9000, 100, 1), Cost(0, 5, 2), Cost(9, 5, 2)});
  EXPECT_FALSE(compared[0].has_value());
  EXPECT_FALSE(compared[1].has_value());
  EXPECT_FALSE(compared[2].has_value());
  EXPECT_DOUBLE_EQ(compared[3]->ratio, 0);
  EXPECT_FALSE(compared[4].has_value());  // nothing was measured elsewhere
  EXPECT_TRUE(CompareContexts({}).empty());
}

}  // namespace
}  // namespace fieldcost::analysis
