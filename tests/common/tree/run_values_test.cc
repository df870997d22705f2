#include "common/tree/run_values.h"

#include <gtest/gtest.h>

#include "common/tree/tree_limits.h"

namespace fieldcost::tree {
namespace {

constexpr std::uint64_t kMost = ~std::uint64_t{0};

TEST(RunValuesTest, ValuesAddUpAndMissingOnesAreZero) {
  RunValues values(2);
  EXPECT_TRUE(values.Add(1, PathId(5), 7).has_value());
  EXPECT_TRUE(values.Add(1, PathId(5), 8).has_value());
  EXPECT_EQ(values.value(1, PathId(5)), 15U);
  EXPECT_EQ(values.value(1, PathId(4)), 0U);
  EXPECT_EQ(values.value(1, PathId(6)), 0U);
  EXPECT_EQ(values.value(0, PathId(5)), 0U);
  EXPECT_EQ(values.column(1).size(), 6U);
  EXPECT_EQ(values.column(0).size(), 0U);
  values.MutableColumn(0, 3)[2] = 9;
  EXPECT_EQ(values.MutableColumn(0, 1).size(), 3U);  // never shrinks

  RunValues sum(2, 4);
  EXPECT_TRUE(sum.Add(values).has_value());
  EXPECT_TRUE(sum.Add(values).has_value());
  EXPECT_EQ(sum.value(1, PathId(5)), 30U);
  EXPECT_EQ(sum.value(0, PathId(2)), 18U);
}

TEST(RunValuesTest, RefusesValuesThatOverflow) {
  RunValues values(1);
  EXPECT_TRUE(values.Add(0, PathId(1), kMost).has_value());
  EXPECT_EQ(values.Add(0, PathId(1), 1).error().code, ErrorCode::kTooLarge);
  EXPECT_EQ(values.value(0, PathId(1)), kMost);
  RunValues one(1);
  EXPECT_TRUE(one.Add(0, PathId(1), 1).has_value());
  EXPECT_EQ(one.Add(values).error().code, ErrorCode::kTooLarge);
}

TEST(RunValuesTest, CallersKeepTheLimits) {
  EXPECT_DEATH(RunValues(kMaxMetrics + 1), "metrics <= kMaxMetrics");
  EXPECT_DEATH(RunValues(1, kMaxPaths + 1), "paths <= kMaxPaths");
  RunValues values(1);
  EXPECT_DEATH(values.column(1), "metric <");
  EXPECT_DEATH(values.MutableColumn(0, kMaxPaths + 1), "paths <= kMaxPaths");
  EXPECT_DEATH(values.MutableColumn(1, 1), "metric <");
  EXPECT_DEATH((void)values.Add(1, PathId(0), 1), "metric <");
  EXPECT_DEATH((void)values.Add(0, PathId(kMaxPaths), 1), "path.value");
  EXPECT_DEATH((void)values.Add(RunValues(2)), "other.metrics");
}

}  // namespace
}  // namespace fieldcost::tree
