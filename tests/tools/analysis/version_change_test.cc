#include "tools/analysis/version_change.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tools/analysis/version_fleet.h"

namespace fieldcost::analysis {
namespace {

using inference::Verdict;
using stats::Metric;
using stats::StatRow;
using ::testing::ElementsAre;
using Rows = std::vector<StatRow>;

MetricChange Compared(const Rows& before, const Rows& after) {
  MetricChange change = *CompareApi(before, after).Find(Metric::kWallTime);
  MetricChange* one = &change;
  Decide({&one, 1});
  return change;
}

// Two weeks with the same machines, each machine once per week.
Rows Weeks(VersionFleet& fleet, VersionFleet::Wish wish) {
  Rows rows;
  for (const std::uint32_t week : {2900U, 2901U}) {
    wish.week = week;
    rows.push_back(fleet.Row(wish));
  }
  return rows;
}

TEST(VersionChangeTest, DistinguishesSlowerAndFasterVersionsFromEqualOnes) {
  VersionFleet fleet(5);
  const Rows before = Weeks(fleet, {});
  const auto after = [&](double octaves) {
    return Compared(before, Weeks(fleet, {.version = "2.0", .octaves = octaves}));
  };
  const MetricChange slower = after(13);
  EXPECT_EQ(slower.change, Verdict::kMore);
  EXPECT_NEAR(slower.ratio, 2, 0.3);
  EXPECT_LT(slower.ratio_low, 2);
  EXPECT_GT(slower.ratio_high, 2);
  EXPECT_NEAR(slower.delta, 0.48, 0.1);
  EXPECT_EQ(slower.test.machines_after, 60U);
  EXPECT_EQ(after(11).change, Verdict::kLess);
  EXPECT_EQ(after(12).change, Verdict::kNone);
  // Possibly significant, but too small to report.
  EXPECT_EQ(after(12.15).change, Verdict::kNone);
}

TEST(VersionChangeTest, LittleDataGetsNoVerdict) {
  VersionFleet fleet(2);
  const Rows many = Weeks(fleet, {});
  const Rows few = Weeks(fleet, {.version = "2.0", .octaves = 16, .machines = 10});
  EXPECT_EQ(Compared(many, few).change, Verdict::kTooLittleData);
  EXPECT_EQ(Compared(few, many).change, Verdict::kTooLittleData);
}

// Simpson's paradox: the library is unchanged, but the fleet has bought faster machines.
TEST(VersionChangeTest, DifferentMixOfMachinesIsNotAChange) {
  VersionFleet fleet(3);
  const auto version = [&](const std::string& name, int slow, int fast, double octaves) {
    Rows rows;
    for (const std::uint32_t week : {2900U, 2901U}) {
      rows.push_back(fleet.Row({.version = name,
                                .octaves = 15 + octaves,
                                .machines = slow,
                                .cpu = "Old",
                                .week = week}));
      rows.push_back(fleet.Row({.version = name,
                                .octaves = 12 + octaves,
                                .machines = fast,
                                .cpu = "New",
                                .week = week}));
      StatRow all = rows.back();
      const StatRow& other = rows[rows.size() - 2];
      all.key.hardware = {};
      all.histogram.Merge(other.histogram);
      all.scalars.Merge(other.scalars);
      all.weights.Merge(other.weights);
      rows.push_back(all);
    }
    return rows;
  };
  const auto only_all = [](Rows rows) {
    std::erase_if(rows, [](const StatRow& row) { return row.key.hardware.architecture != ""; });
    return rows;
  };
  const Rows before = version("1.0", 120, 30, 0);
  const Rows same = version("2.0", 30, 120, 0);
  const MetricChange fair = Compared(before, same);
  EXPECT_EQ(fair.change, Verdict::kNone);
  EXPECT_EQ(fair.classes, 2U);
  EXPECT_NEAR(fair.ratio, 1, 0.15);
  EXPECT_NEAR(fair.delta, 0, 0.08);
  // The mixed numbers alone would show the former and hide the latter.
  EXPECT_EQ(Compared(only_all(before), only_all(same)).change, Verdict::kLess);
  const Rows slower = version("2.0", 30, 120, 1);
  EXPECT_EQ(Compared(before, slower).change, Verdict::kMore);
  EXPECT_EQ(Compared(only_all(before), only_all(slower)).change, Verdict::kLess);
}

TEST(VersionChangeTest, SmallClassesDoNotDecide) {
  VersionFleet fleet(4);
  Rows before = Weeks(fleet, {});
  Rows after = Weeks(fleet, {.version = "2.0"});
  before.push_back(fleet.Row({.octaves = 9, .machines = 20, .cpu = "Rare"}));
  after.push_back(fleet.Row({.version = "2.0", .octaves = 16, .machines = 20, .cpu = "Rare"}));
  const MetricChange change = Compared(before, after);
  EXPECT_EQ(change.classes, 0U);
  EXPECT_EQ(change.change, Verdict::kNone);
}

TEST(VersionChangeTest, WhereNoWeekIsKnownThereAreNotEnoughMachines) {
  VersionFleet fleet(5);
  Rows before = {fleet.Row({.machines = 120})};
  const Rows after = {fleet.Row({.version = "2.0", .octaves = 13, .machines = 120})};
  EXPECT_EQ(Compared(before, after).change, Verdict::kMore);
  before[0].fullest_quarter = {};  // as in rows without a quarter of enough machines
  const MetricChange change = Compared(before, after);
  EXPECT_EQ(change.change, Verdict::kTooLittleData);
  EXPECT_EQ(change.test.strata, 0U);
  EXPECT_NEAR(change.ratio, 2, 0.3);  // still estimated
}

// Estimates cover all weeks, the test only the fullest: returning machines are no evidence.
TEST(VersionChangeTest, RepeatedContributionsOfAMachineAreNotEvidence) {
  VersionFleet fleet(8);
  int told_apart = 0;
  for (int i = 0; i < 200; ++i) {
    Rows sides;
    for (const char* version : {"1.0", "2.0"}) {
      StatRow row = fleet.Row({.version = version, .machines = 30});
      const StatRow week = row;
      for (int more = 1; more < 52; ++more) {
        row.histogram.Merge(week.histogram);
        row.scalars.Merge(week.scalars);
        row.weights.Merge(week.weights);
        row.bounded.Merge(week.bounded);
      }
      sides.push_back(row);
    }
    const MetricChange change = Compared({sides[0]}, {sides[1]});
    EXPECT_EQ(change.test.machines_before, 30U);
    told_apart += change.test.p <= 0.05 ? 1 : 0;
  }
  EXPECT_LE(told_apart, 18);  // 10 are expected
}

TEST(VersionChangeTest, MergesBuildsOfAVersionAndOmitsCallsPerRun) {
  VersionFleet fleet(6);
  Rows before = Weeks(fleet, {});
  Rows other_build = before;
  for (StatRow& row : other_build) row.key.api.build_id = "11ee";
  before.insert(before.end(), other_build.begin(), other_build.end());
  StatRow runs = fleet.Row({.octaves = 20, .metric = Metric::kCallsPerRun});
  before.push_back(runs);
  const ApiChange change = CompareApi(before, Weeks(fleet, {.version = "2.0"}));
  ASSERT_EQ(change.metrics.size(), 1U);
  EXPECT_EQ(change.metrics[0].before.contributions, 4 * 60U);
  EXPECT_EQ(change.metrics[0].after.contributions, 2 * 60U);
  EXPECT_EQ(change.calls_before, runs.bounded.sum);
  EXPECT_EQ(change.calls_after, 2 * 60 * 40U);
}

TEST(VersionChangeTest, OfManyApisOnlyThePlantedOnesAreFlagged) {
  VersionFleet fleet(7);
  LibraryComparison comparison("libz.so.1", "1.0", "2.0");
  for (int i = 0; i < 40; ++i) {
    const std::string symbol = "f" + std::to_string(i);
    Rows rows = Weeks(fleet, {.symbol = symbol});
    const double octaves = i == 7 ? 13 : i == 20 ? 11 : 12;
    for (const StatRow& row :
         Weeks(fleet, {.symbol = symbol, .version = "2.0", .octaves = octaves})) {
      rows.push_back(row);
    }
    rows.push_back(fleet.Row({.symbol = symbol, .version = "0.9", .octaves = 20}));
    comparison.Add(rows);
  }
  comparison.Add(Weeks(fleet, {.symbol = "gone"}));
  comparison.Add(Weeks(fleet, {.symbol = "come", .version = "2.0"}));
  comparison.Add(Weeks(fleet, {.symbol = "elsewhere", .version = "3.0"}));
  const LibraryChange change = comparison.Finish();
  std::vector<std::string> slower;
  std::vector<std::string> faster;
  for (const ApiChange& api : change.apis) {
    if (api.metrics[0].change == Verdict::kMore) slower.push_back(api.symbol);
    if (api.metrics[0].change == Verdict::kLess) faster.push_back(api.symbol);
  }
  EXPECT_THAT(slower, ElementsAre("f7"));
  EXPECT_THAT(faster, ElementsAre("f20"));
  EXPECT_EQ(change.Count(Metric::kWallTime, Verdict::kNone), 38U);
  EXPECT_THAT(change.added, ElementsAre("come"));
  EXPECT_THAT(change.removed, ElementsAre("gone"));
}

TEST(VersionChangeTest, ChangesAreNamedByTheirMetric) {
  EXPECT_EQ(Words(Verdict::kMore, Metric::kWallTime), "slower");
  EXPECT_EQ(Words(Verdict::kLess, Metric::kCpuCycles), "faster");
  EXPECT_EQ(Words(Verdict::kMore, Metric::kAllocInclusive), "more");
  EXPECT_EQ(Words(Verdict::kNone, Metric::kWallTime), "no change shown");
  EXPECT_EQ(Words(Verdict::kTooLittleData, Metric::kWallTime), "too little data");
}

}  // namespace
}  // namespace fieldcost::analysis
