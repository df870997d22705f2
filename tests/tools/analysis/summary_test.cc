#include "tools/analysis/summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tools/analysis/cost_rows.h"

namespace fieldcost::analysis {
namespace {

using stats::Metric;
using ::testing::ElementsAre;

TEST(SummariseTest, RowsOfSingleClassesDoNotCountInAdditionToTheRowForAll) {
  stats::StatRow all = Row("l.so", "f", Metric::kWallTime, {10, 20, 30}, 2);
  stats::StatRow one = Row("l.so", "f", Metric::kWallTime, {10}, 1);
  one.key.hardware.architecture = "x86_64";
  stats::StatRow week = Row("l.so", "f", Metric::kWallTime, {20}, 1);
  week.key.week = 2900;
  const std::vector<CostSummary> summaries = Summarise(std::vector{all, one, week});
  ASSERT_EQ(summaries.size(), 1U);
  EXPECT_EQ(summaries[0].Find(Metric::kWallTime)->sums.histogram.count(), 3U);
  EXPECT_EQ(summaries[0].Find(Metric::kWallTime)->figures.contributions, 2U);
}

TEST(SummariseTest, WithoutARowForAllThePartsAreAdded) {
  stats::StatRow one = Row("l.so", "f", Metric::kWallTime, {10}, 1);
  one.key.hardware.architecture = "x86_64";
  one.key.week = 2900;
  stats::StatRow two = one;
  two.key.week = 2901;
  const std::vector<CostSummary> summaries = Summarise(std::vector{one, two});
  EXPECT_EQ(summaries[0].Find(Metric::kWallTime)->sums.histogram.count(), 2U);
}

TEST(SummariseTest, WeightsAreAddedAndGiveTheTypicalMachine) {
  stats::StatRow one = OneHeavyCaller();
  one.key.week = 2900;
  stats::StatRow two = Row("liba.so.1", "work", Metric::kWallTime, {20, 20}, 3);
  two.weights = {};  // as after a subtraction that left impossible ones
  two.bounded = {};
  two.key.week = 2901;
  const std::vector<CostSummary> summaries = Summarise(std::vector{one, two});
  const stats::Figures& figures = summaries[0].Find(Metric::kWallTime)->figures;
  EXPECT_EQ(figures.quantiles->p50.estimate, 20);
  EXPECT_EQ(figures.quantiles->p95.estimate, 20);
  EXPECT_EQ(figures.quantiles->p99.estimate, 5000);
  EXPECT_EQ(figures.contributions, 24U);
  EXPECT_EQ(figures.machines, 21U);
}

TEST(SortTest, TheMostExpensiveFirstUnmeasuredLast) {
  const std::vector<stats::StatRow> rows = {
      Row("l.so", "alloc_only", Metric::kAllocInclusive, {1}, 1),
      Row("l.so", "often_cheap", Metric::kWallTime, std::vector<std::uint64_t>(100, 3), 1),
      Row("l.so", "rare_dear", Metric::kWallTime, {1000}, 1)};
  std::vector<CostSummary> summaries = Summarise(rows);
  const auto names = [&] {
    std::vector<std::string> list;
    for (const CostSummary& summary : summaries) list.push_back(summary.api.symbol);
    return list;
  };
  Sort(summaries, SortKey::kCalls);
  EXPECT_THAT(names(), ElementsAre("often_cheap", "rare_dear", "alloc_only"));
  for (const SortKey key :
       {SortKey::kP50, SortKey::kP95, SortKey::kP99, SortKey::kMean, SortKey::kTotal}) {
    Sort(summaries, key);
    EXPECT_THAT(names(), ElementsAre("rare_dear", "often_cheap", "alloc_only"));
  }
  EXPECT_EQ(ParseSortKey("p99"), SortKey::kP99);
  EXPECT_EQ(ParseSortKey("p98"), std::nullopt);
}

}  // namespace
}  // namespace fieldcost::analysis
