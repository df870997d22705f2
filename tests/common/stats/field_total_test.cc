#include "common/stats/field_total.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

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
    EXPECT_EQ(FieldCalls({.wall_time = &timed, .calls_per_run = &runs}, whose), 800U);
    EXPECT_EQ(FieldCalls({.wall_time = &timed}, whose), 10U);
    EXPECT_EQ(FieldCalls({.calls_per_run = &runs}, whose), 800U);
    EXPECT_FALSE(FieldCalls({}, whose));
    EXPECT_EQ(FieldTotal({.wall_time = &timed, .calls_per_run = &runs}, whose),
              FieldCost{.ns = 800 * 50.0});
    EXPECT_FALSE(FieldTotal({.calls_per_run = &runs}, whose));
  }
}

TEST(FieldTotalTest, CallsOnBusyMachinesCountToo) {
  const ApiSums idle = SumsOf(Row("1", Metric::kWallTime, 30, 50));
  const ApiSums busy = SumsOf(Row("1", Metric::kWallTimeBusy, 10, 90));
  for (const Whose whose : {Whose::kField, Whose::kOwn}) {
    const TotalParts parts{.wall_time = &idle, .wall_time_busy = &busy};
    EXPECT_EQ(FieldCalls(parts, whose), 40U);
    EXPECT_EQ(FieldTotal(parts, whose), FieldCost{.ns = 30 * 50.0 + 10 * 90.0});
  }
}

TEST(FieldTotalTest, TheTotalIsThatOfAllRunsWhereItIsKnown) {
  const ApiSums timed = SumsOf(Row("1", Metric::kWallTime, 10, 50));
  StatRow drawn = Row("1", Metric::kTimePerRun, 0, 0);
  for (const std::uint64_t value : {300, 500, 100, 700}) drawn.histogram.Add(value, 256);
  drawn.bounded = BoundedSumsOf(drawn.histogram);
  const ApiSums runs = SumsOf(drawn);
  for (const Whose whose : {Whose::kField, Whose::kOwn}) {
    const auto total = FieldTotal({.wall_time = &timed, .time_per_run = &runs}, whose);
    ASSERT_TRUE(total);
    EXPECT_TRUE(total->of_all_runs);
    EXPECT_EQ(total->ns, 256 * 1600.0);
    // Each of four draws represents 256 runs: the squares of 256 times their costs.
    EXPECT_DOUBLE_EQ(total->standard_error_ns,
                     256 * std::sqrt(300. * 300 + 500. * 500 + 100. * 100 + 700. * 700));
  }
}

// A fleet of 4,000 runs, each drawn with its own probability and weighted by a power of two.
TEST(FieldTotalTest, TheStandardErrorIsThatOfTheDraws) {
  constexpr int kFleets = 400;
  constexpr int kRuns = 4'000;
  std::mt19937_64 random(20'261'122);
  std::lognormal_distribution<double> cost(10, 1);
  double variance = 0;
  double squares = 0;
  int covered = 0;
  for (int fleet = 0; fleet < kFleets; ++fleet) {
    ApiSums sums;
    double truth = 0;
    for (int run = 0; run < kRuns; ++run) {
      const auto time = static_cast<std::uint64_t>(cost(random));
      truth += static_cast<double>(time);
      const double stands_for = 12 + 28 * static_cast<double>(run % 5) / 4;  // 12 to 40
      const double power = std::exp2(std::floor(std::log2(stands_for)));
      std::uniform_real_distribution<double> uniform;
      if (uniform(random) * stands_for >= 1) continue;
      const bool upper = uniform(random) < stands_for / power - 1;
      sums.histogram.Add(time, static_cast<std::uint64_t>(power) * (upper ? 2 : 1));
    }
    const auto total = FieldTotal({.time_per_run = &sums}, Whose::kOwn);
    ASSERT_TRUE(total);
    const double error = total->ns - truth;
    squares += error * error;
    variance += total->standard_error_ns * total->standard_error_ns;
    covered += std::abs(error) <= 1.96 * total->standard_error_ns ? 1 : 0;
  }
  EXPECT_NEAR(variance / squares, 1, 0.2);
  RecordProperty("covered_of_400", covered);
  EXPECT_GE(covered, 0.91 * kFleets);
  EXPECT_LE(covered, 0.98 * kFleets);
}

TEST(FieldTotalTest, TotalsOverAllRunsSortAbovePartialOnesAndAbsorbThem) {
  const FieldCost measured{.ns = 1e12};
  const FieldCost all{.of_all_runs = true, .ns = 5, .standard_error_ns = 3};
  EXPECT_GT(all, measured);
  EXPECT_GT(FieldCost({.ns = 1e13}), measured);
  FieldCost sum = measured;
  sum.Add(measured);
  EXPECT_EQ(sum, FieldCost{.ns = 2e12});
  sum.Add(all);
  EXPECT_EQ(sum, all);
  sum.Add(measured);
  EXPECT_EQ(sum, all);
  sum.Add({.of_all_runs = true, .ns = 6, .standard_error_ns = 4});
  EXPECT_EQ(sum, (FieldCost{.of_all_runs = true, .ns = 11, .standard_error_ns = 5}));
}

TEST(FieldTotalTest, FieldUsesBoundedSumsAndOwnDataAllCalls) {
  ApiSums timed = SumsOf(Row("1", Metric::kWallTime, 1000, 50));
  ApiSums runs = SumsOf(Row("1", Metric::kCallsPerRun, 2, 1'000'000));
  ApiSums per_run = SumsOf(Row("1", Metric::kTimePerRun, 4, 1000));
  timed.bounded = {.contributions = 1, .calls = 10, .sum = 400};
  runs.bounded = {.contributions = 1, .calls = 1, .sum = 30};
  per_run.bounded = {.contributions = 1, .calls = 2, .sum = 600};
  const TotalParts parts{.wall_time = &timed, .calls_per_run = &runs};
  EXPECT_EQ(FieldCalls(parts, Whose::kField), 30U);
  EXPECT_EQ(FieldTotal(parts, Whose::kField)->ns, 30 * 40.0);
  EXPECT_EQ(FieldTotal(parts, Whose::kOwn)->ns, 2'000'000 * 50.0);
  const TotalParts of_all_runs{.wall_time = &timed, .time_per_run = &per_run};
  EXPECT_EQ(FieldTotal(of_all_runs, Whose::kField)->ns, 600);
  EXPECT_EQ(FieldTotal(of_all_runs, Whose::kOwn)->ns, 4000);
  timed.bounded = {};
  EXPECT_FALSE(FieldTotal(parts, Whose::kField)) << "there are none";
  EXPECT_EQ(FieldTotal(parts, Whose::kOwn)->ns, 2'000'000 * 50.0);
}

TEST(FieldTotalTest, ARunThatHasNotEndedNeverMakesFewerCallsThanWereTimed) {
  const ApiSums timed = SumsOf(Row("1", Metric::kWallTime, 10, 50));
  const ApiSums runs = SumsOf(Row("1", Metric::kCallsPerRun, 1, 3));
  EXPECT_EQ(FieldCalls({.wall_time = &timed, .calls_per_run = &runs}, Whose::kField), 10U);
}

TEST(FieldTotalTest, VersionsAddUpAndOnlyTheWidestRowsCount) {
  StatRow one_week = Row("1", Metric::kWallTime, 7, 100);
  one_week.key.week = 2967;
  StatRow one_class = Row("1", Metric::kWallTime, 7, 100);
  one_class.key.hardware = {"x86_64", "A-6", 2, 13, "debian-12"};
  EXPECT_LT(StratumWidth(one_class.key), StratumWidth(one_week.key));
  const StatRow all = Row("1", Metric::kWallTime, 10, 100);
  const StatRow newer = Row("2", Metric::kWallTime, 1, 5);
  EXPECT_EQ(FieldTotal(std::vector{one_class, one_week, all, newer}, Whose::kField).ns, 1005);
  EXPECT_EQ(FieldTotal(std::vector{all, one_week, newer, one_class}, Whose::kField).ns, 1005)
      << "in any order";
  EXPECT_EQ(FieldTotal(std::vector{one_week, newer}, Whose::kField).ns, 705);
  EXPECT_EQ(FieldTotal(std::vector{Row("1", Metric::kAllocInclusive, 9, 9)}, Whose::kField).ns, 0);
}

}  // namespace
}  // namespace fieldcost::stats
