#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "tests/tools/analysis/check_fleet.h"
#include "tools/analysis/check_field.h"
#include "tools/analysis/check_report.h"

namespace fieldcost::analysis {
namespace {

using inference::Verdict;
using stats::StatRow;
using ::testing::ElementsAre;

TEST(CheckFieldTest, TheSameClassIsChosenIfItHasEnoughMachines) {
  CheckFleet fleet;
  const std::vector<StatRow> rows = {fleet.Field(Key("f"), 80),
                                     fleet.Field(Key("f", "1.2-3", kLaptop), 30),
                                     fleet.Field(Key("f", "1.2-3", kServer), 29)};
  const FieldChoice laptop = ChooseField(rows, {}, Key("f", "1.2-3", kLaptop));
  EXPECT_EQ(laptop.stratum, Stratum::kSameClass);
  EXPECT_EQ(laptop.sums.histogram, rows[1].histogram);
  const FieldChoice server = ChooseField(rows, {}, Key("f", "1.2-3", kServer));
  EXPECT_EQ(server.stratum, Stratum::kAllClasses);
  EXPECT_EQ(server.sums.histogram, rows[0].histogram);
  EXPECT_EQ(server.sums.scalars, rows[0].scalars);
  EXPECT_THAT(server.versions, ElementsAre("1.2-3"));
}

TEST(CheckFieldTest, WithoutARowOverAllClassesOrWeeksTheSingleOnesAreSummed) {
  CheckFleet fleet;
  std::vector<StatRow> rows = {fleet.Field(Key("f", "1.2-3", kLaptop, 7), 20),
                               fleet.Field(Key("f", "1.2-3", kLaptop, 8), 20),
                               fleet.Field(Key("f", "1.2-3", kServer, 8), 5)};
  StatRow both = rows[0];  // two weeks' machines; for the test they count as those of one week
  CheckFleet::Contribute(rows[1].histogram, both);
  FieldChoice choice = ChooseField(rows, {}, Key("f", "1.2-3", kLaptop));
  EXPECT_EQ(choice.stratum, Stratum::kSameClass);
  EXPECT_EQ(choice.sums.histogram, both.histogram);
  EXPECT_EQ(choice.sums.scalars.contributions, 40U);
  EXPECT_EQ(choice.sums.fullest_quarter.scalars.contributions, 20U);
  EXPECT_EQ(ChooseField(rows, {}, Key("f")).sums.scalars.contributions, 45U);
  // But nothing is counted twice.
  both.key = Key("f", "1.2-3", kLaptop);
  rows.push_back(both);
  EXPECT_EQ(ChooseField(rows, {}, Key("f", "1.2-3", kLaptop)).sums.histogram, both.histogram);
}

TEST(CheckFieldTest, OtherVersionsServeOnlyWhereMineIsMissing) {
  CheckFleet fleet;
  std::vector<StatRow> rows = {fleet.Field(Key("f", "1.1-1"), 50),
                               fleet.Field(Key("f", "1.3-1"), 50),
                               fleet.Field(Key("g", "1.2-3"), 50)};
  const FieldChoice others = ChooseField(rows, {}, Key("f", "1.2-3", kLaptop));
  EXPECT_EQ(others.stratum, Stratum::kOtherVersions);
  EXPECT_THAT(others.versions, ElementsAre("1.1-1", "1.3-1"));
  EXPECT_EQ(others.sums.scalars.contributions, 100U);
  // Even too few machines of the same version are preferred.
  rows.push_back(fleet.Field(Key("f", "1.2-3"), 3));
  EXPECT_EQ(ChooseField(rows, {}, Key("f", "1.2-3", kLaptop)).stratum, Stratum::kAllClasses);
  // A different build of the same package is the same version.
  rows.back().key.api.build_id = "ffff";
  const FieldChoice build = ChooseField(rows, {}, Key("f", "1.2-3", kLaptop));
  EXPECT_EQ(build.stratum, Stratum::kAllClasses);
  EXPECT_EQ(build.sums.scalars.contributions, 3U);
  EXPECT_EQ(ChooseField(rows, {}, Key("h")).stratum, Stratum::kNone);
  stats::RowKey other_symbol_version = Key("g");
  other_symbol_version.api.symbol_version = "V2";
  EXPECT_EQ(ChooseField(rows, {}, other_symbol_version).stratum, Stratum::kNone);
}

TEST(CheckFieldTest, OwnContributionIsTakenOutToTheLastBit) {
  CheckFleet fleet;
  const StatRow others = fleet.Field(Key("f"), 40);
  std::vector<StatRow> own;
  StatRow field = others;
  for (const std::uint32_t week : {2900U, 2901U}) {
    own.push_back({.key = Key("f", "1.2-3", kLaptop, week)});
    CheckFleet::Contribute(fleet.Machine(), own.back());
    own.back().histogram.Merge(fleet.Machine());  // a later batch of the same week
    field.histogram.Merge(own.back().histogram);
    field.scalars.Merge(own.back().scalars);
    if (week == 2900) field.fullest_quarter.scalars.Merge(own.back().scalars);
  }
  own.push_back({.key = Key("g", "1.2-3", kLaptop, 2900)});
  CheckFleet::Contribute(fleet.Machine(), own.back());
  const FieldChoice choice = ChooseField(std::vector{field}, own, Key("f", "1.2-3", kLaptop));
  EXPECT_TRUE(choice.own_removed);
  EXPECT_EQ(choice.sums.histogram, others.histogram);
  EXPECT_EQ(choice.sums.scalars, others.scalars);
  EXPECT_EQ(choice.sums.fullest_quarter, others.fullest_quarter);
  // Calls that the field does not include are not subtracted.
  const FieldChoice unsent = ChooseField(std::vector{fleet.Field(Key("g"), 1)}, own, Key("g"));
  EXPECT_FALSE(unsent.own_removed);
}

TEST(CheckFieldTest, SubtractsOnlyOwnCallsInTheChosenRows) {
  CheckFleet fleet;
  const StatRow others = fleet.Field(Key("f", "1.2-3", kLaptop, 2900), 40);
  std::vector<StatRow> own;
  for (const auto& [hardware, week] :
       {std::pair(kLaptop, 2900U), std::pair(kLaptop, 2901U), std::pair(kServer, 2900U)}) {
    own.push_back({.key = Key("f", "1.2-3", hardware, week)});
    CheckFleet::Contribute(fleet.Machine(), own.back());
  }
  // Only one week of one class has been published.
  StatRow field = others;
  field.histogram.Merge(own[0].histogram);
  field.scalars.Merge(own[0].scalars);
  for (const stats::HardwareClass& hardware : {kLaptop, kServer}) {
    const FieldChoice choice = ChooseField(std::vector{field}, own, Key("f", "1.2-3", hardware));
    EXPECT_TRUE(choice.own_removed);
    EXPECT_EQ(choice.sums.histogram, others.histogram);
    EXPECT_EQ(choice.sums.scalars, others.scalars);
  }
}

TEST(CheckFieldTest, OthersAreCountedWithoutMe) {
  CheckFleet fleet;
  StatRow in_class = fleet.Field(Key("f", "1.2-3", kLaptop), 29);
  StatRow own{.key = Key("f", "1.2-3", kLaptop, 2900)};
  CheckFleet::Contribute(fleet.Machine(), own);
  in_class.histogram.Merge(own.histogram);
  in_class.scalars.Merge(own.scalars);
  in_class.fullest_quarter.scalars.Merge(own.scalars);
  StatRow all = in_class;
  all.key.hardware = {};
  CheckFleet::Contribute(fleet.Machine(), all);
  const std::vector<StatRow> rows = {all, in_class};
  const FieldChoice choice = ChooseField(rows, std::vector{own}, Key("f", "1.2-3", kLaptop));
  EXPECT_EQ(choice.stratum, Stratum::kAllClasses);  // 30 others, not 29
  EXPECT_EQ(choice.sums.scalars.contributions, 30U);
  EXPECT_EQ(choice.sums.fullest_quarter.scalars.contributions, 30U);
}

TEST(CheckReportTest, ListsRegressionsFirstInAnyOrder) {
  std::vector<CheckedApi> apis = SomeApis();
  const CheckReport report = Check(apis, stats::Metric::kWallTime, 0);
  EXPECT_EQ(report.apis.front().key.api.symbol, "slow");
  EXPECT_EQ(report.Count(Verdict::kMore), 1U);
  EXPECT_EQ(report.Count(Verdict::kTooLittleData), 2U);
  EXPECT_EQ(report.Count(Verdict::kNone), 6U);
  std::reverse(apis.begin(), apis.end());
  const CheckReport reversed = Check(apis, stats::Metric::kWallTime, 0);
  EXPECT_EQ(reversed.apis.front().key.api.symbol, "slow");
  EXPECT_EQ(reversed.Seed(), report.Seed());
  EXPECT_NE(Check(apis, stats::Metric::kWallTime, 7).Seed(), report.Seed());
}

// Rows with too few machines in every quarter have no scalars of a single quarter.
TEST(CheckReportTest, WhereNoWeekIsKnownThereAreNotEnoughMachines) {
  CheckFleet fleet;
  StatRow field = fleet.Field(Key("slow"), 50);
  field.fullest_quarter = {};
  const CheckReport report =
      Check({Api("slow", fleet.Machine(3), field)}, stats::Metric::kWallTime, 0);
  EXPECT_EQ(report.Count(Verdict::kTooLittleData), 1U);
  EXPECT_EQ(Lack(report.apis[0]), "not enough machines known");
}

}  // namespace
}  // namespace fieldcost::analysis
