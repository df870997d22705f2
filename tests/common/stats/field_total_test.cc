#include "common/stats/field_total.h"

#include <gtest/gtest.h>

namespace fieldcost::stats {
namespace {

StatRow Row(const char* version, Metric metric, std::uint64_t count, std::uint64_t value) {
  StatRow row;
  row.key.api = {"liba.so.1", version, "", "f", ""};
  row.key.metric = metric;
  for (std::uint64_t i = 0; i < count; ++i) row.histogram.Add(value);
  row.scalars.contributions = 1;
  row.bounded = BoundedSumsOf(row.histogram);
  return row;
}

ApiSums SumsOf(const StatRow& row) {
  ApiSums sums;
  sums.Merge(row);
  return sums;
}

TEST(FieldTotalTest, CallsThatWereOnlyCountedCostTheMeanOfTheTimedOnes) {
  const ApiSums timed = SumsOf(Row("1", Metric::kWallTime, 10, 50));
  const ApiSums runs = SumsOf(Row("1", Metric::kCallsPerRun, 2, 400));
  for (const Whose whose : {Whose::kField, Whose::kOwn}) {
    EXPECT_EQ(FieldCalls(&timed, &runs, whose), 800U);
    EXPECT_EQ(FieldCalls(&timed, nullptr, whose), 10U);
    EXPECT_EQ(FieldCalls(nullptr, &runs, whose), 800U);
    EXPECT_FALSE(FieldCalls(nullptr, nullptr, whose));
    EXPECT_EQ(FieldTotal(&timed, &runs, whose), 800 * 50.0);
    EXPECT_FALSE(FieldTotal(nullptr, &runs, whose));
  }
}

TEST(FieldTotalTest, OfTheFieldOnlyBoundedSumsCountAndOfOnesOwnAllCalls) {
  ApiSums timed = SumsOf(Row("1", Metric::kWallTime, 1000, 50));
  ApiSums runs = SumsOf(Row("1", Metric::kCallsPerRun, 2, 1'000'000));
  timed.bounded = {.contributions = 1, .calls = 10, .sum = 400};
  runs.bounded = {.contributions = 1, .calls = 1, .sum = 30};
  EXPECT_EQ(FieldCalls(&timed, &runs, Whose::kField), 30U);
  EXPECT_EQ(FieldTotal(&timed, &runs, Whose::kField), 30 * 40.0);
  EXPECT_EQ(FieldTotal(&timed, &runs, Whose::kOwn), 2'000'000 * 50.0);
  timed.bounded = {};
  EXPECT_FALSE(FieldTotal(&timed, &runs, Whose::kField)) << "from before they were kept";
  EXPECT_EQ(FieldTotal(&timed, &runs, Whose::kOwn), 2'000'000 * 50.0);
}

TEST(FieldTotalTest, ARunThatHasNotEndedNeverMakesFewerCallsThanWereTimed) {
  const ApiSums timed = SumsOf(Row("1", Metric::kWallTime, 10, 50));
  const ApiSums runs = SumsOf(Row("1", Metric::kCallsPerRun, 1, 3));
  EXPECT_EQ(FieldCalls(&timed, &runs, Whose::kField), 10U);
}

TEST(FieldTotalTest, VersionsAddUpAndOnlyTheWidestRowsCount) {
  StatRow one_week = Row("1", Metric::kWallTime, 7, 100);
  one_week.key.week = 2967;
  StatRow one_class = Row("1", Metric::kWallTime, 7, 100);
  one_class.key.hardware = {"x86_64", "A-6", 2, 13, "debian-12"};
  EXPECT_LT(StratumWidth(one_class.key), StratumWidth(one_week.key));
  const StatRow all = Row("1", Metric::kWallTime, 10, 100);
  const StatRow newer = Row("2", Metric::kWallTime, 1, 5);
  EXPECT_EQ(FieldTotal(std::vector{one_class, one_week, all, newer}, Whose::kField), 1005);
  EXPECT_EQ(FieldTotal(std::vector{all, one_week, newer, one_class}, Whose::kField), 1005)
      << "in any order";
  EXPECT_EQ(FieldTotal(std::vector{one_week, newer}, Whose::kField), 705);
  EXPECT_EQ(FieldTotal(std::vector{Row("1", Metric::kAllocInclusive, 9, 9)}, Whose::kField), 0);
}

}  // namespace
}  // namespace fieldcost::stats
