#include "common/stats/field_total.h"

#include <gtest/gtest.h>

namespace fieldcost::stats {
namespace {

StatRow Row(const char* version, Metric metric, std::uint64_t count, std::uint64_t value) {
  StatRow row;
  row.key.api = {"liba.so.1", version, "", "f", ""};
  row.key.metric = metric;
  for (std::uint64_t i = 0; i < count; ++i) row.histogram.Add(value);
  return row;
}

TEST(FieldTotalTest, CallsThatWereOnlyCountedCostTheMeanOfTheTimedOnes) {
  const StatRow timed = Row("1", Metric::kWallTime, 10, 50);
  const StatRow runs = Row("1", Metric::kCallsPerRun, 2, 400);
  EXPECT_EQ(FieldCalls(&timed.histogram, &runs.histogram), 800U);
  EXPECT_EQ(FieldCalls(&timed.histogram, nullptr), 10U);
  EXPECT_EQ(FieldCalls(nullptr, &runs.histogram), 800U);
  EXPECT_FALSE(FieldCalls(nullptr, nullptr));
  EXPECT_EQ(FieldTotal(&timed.histogram, &runs.histogram), 800 * 50.0);
  EXPECT_EQ(FieldTotal(nullptr, &runs.histogram), 0);
}

TEST(FieldTotalTest, ARunThatHasNotEndedNeverMakesFewerCallsThanWereTimed) {
  const StatRow timed = Row("1", Metric::kWallTime, 10, 50);
  const StatRow runs = Row("1", Metric::kCallsPerRun, 1, 3);
  EXPECT_EQ(FieldCalls(&timed.histogram, &runs.histogram), 10U);
}

TEST(FieldTotalTest, VersionsAddUpAndOnlyTheWidestRowsCount) {
  StatRow one_week = Row("1", Metric::kWallTime, 7, 100);
  one_week.key.week = 2967;
  StatRow one_class = Row("1", Metric::kWallTime, 7, 100);
  one_class.key.hardware = {"x86_64", "A-6", 2, 13, "debian-12"};
  EXPECT_LT(StratumWidth(one_class.key), StratumWidth(one_week.key));
  const StatRow all = Row("1", Metric::kWallTime, 10, 100);
  const StatRow newer = Row("2", Metric::kWallTime, 1, 5);
  EXPECT_EQ(FieldTotal(std::vector{one_class, one_week, all, newer}), 1005);
  EXPECT_EQ(FieldTotal(std::vector{all, one_week, newer, one_class}), 1005) << "in any order";
  EXPECT_EQ(FieldTotal(std::vector{one_week, newer}), 705);
  EXPECT_EQ(FieldTotal(std::vector{Row("1", Metric::kAllocInclusive, 9, 9)}), 0);
}

}  // namespace
}  // namespace fieldcost::stats
