#include "common/probe/set_aside.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/common/probe/simulation.h"
#include "tests/common/probe/some_events.h"

namespace fieldcost::probe {
namespace {

constexpr std::uint64_t kMs = 1'000'000;

// Events that take 100 or 101 ms.
std::vector<EventRow> Alike(std::size_t count) {
  std::vector<EventRow> rows;
  for (std::size_t i = 0; i < count; ++i) rows.push_back(SomeRow(i, (100 + i % 2) * kMs));
  return rows;
}

std::ptrdiff_t CountGone(const std::vector<EventRow>& rows) {
  return std::ranges::count_if(Judge(rows), &Judgement::IsSetAside);
}

TEST(SetAsideTest, SetsAsideRunsThatTookFarLongerWithTheReason) {
  std::vector<EventRow> rows = Alike(19);
  rows.push_back(SomeRow(20, 814 * kMs));
  const std::vector<Judgement> verdicts = Judge(rows);
  EXPECT_EQ(verdicts.back().why, Why::kOutlier);
  EXPECT_EQ(verdicts.back().reason, "8.1 times the median of 20 such runs");
  EXPECT_EQ(CountGone(rows), 1);
  EXPECT_EQ(verdicts.front().reason, "");
}

TEST(SetAsideTest, ARunThatTookFarLessGoesToo) {
  std::vector<EventRow> rows = Alike(9);
  rows.push_back(SomeRow(20, 25 * kMs));
  EXPECT_EQ(Judge(rows).back().reason, "1/4.0 of the median of 10 such runs");
  rows.back().end_ns = rows.back().begin_ns;  // takes no time at all
  EXPECT_EQ(Judge(rows).back().why, Why::kOutlier);
}

TEST(SetAsideTest, LessThanAQuarterOfAnOctaveIsNeverFarLonger) {
  std::vector<EventRow> rows;
  for (std::uint64_t i = 0; i < 20; ++i) rows.push_back(SomeRow(i, 100 * kMs));
  rows.back() = SomeRow(20, 118 * kMs);
  EXPECT_EQ(CountGone(rows), 0);
  rows.back() = SomeRow(20, 120 * kMs);
  EXPECT_EQ(CountGone(rows), 1);
}

TEST(SetAsideTest, OfFewerThanEightRunsNoneGoes) {
  std::vector<EventRow> rows = Alike(6);
  rows.push_back(SomeRow(20, 1000 * kMs));
  EXPECT_EQ(CountGone(rows), 0);
  rows.push_back(SomeRow(21, 100 * kMs));
  EXPECT_EQ(CountGone(rows), 1);
}

TEST(SetAsideTest, WhereMoreThanAFifthWouldGoThereAreTwoKindsOfRuns) {
  std::vector<EventRow> rows = Alike(10);
  rows[8] = SomeRow(8, 400 * kMs);
  rows[9] = SomeRow(9, 410 * kMs);
  EXPECT_EQ(CountGone(rows), 2);
  rows[7] = SomeRow(7, 405 * kMs);
  EXPECT_EQ(CountGone(rows), 0);
  const std::vector<Judgement> verdicts = Judge(rows);
  EXPECT_TRUE(verdicts[7].two_kinds);
  EXPECT_FALSE(verdicts[0].two_kinds);
}

TEST(SetAsideTest, RunsAreComparedOnlyWithThoseOfTheirKind) {
  const auto differs = [](auto change) {
    std::vector<EventRow> rows = Alike(20);
    rows.back() = SomeRow(20, 1000 * kMs);
    change(rows.back());
    return CountGone(rows) == 0;
  };
  EXPECT_FALSE(differs([](EventRow&) {}));
  EXPECT_TRUE(differs([](EventRow& row) { row.label = "close"; }));
  EXPECT_TRUE(differs([](EventRow& row) { row.program = "viewer"; }));
  EXPECT_TRUE(differs([](EventRow& row) { row.build = "1.1"; }));
  EXPECT_TRUE(differs([](EventRow& row) { row.tags = {"cold"}; }));
  EXPECT_TRUE(differs([](EventRow& row) { row.points_key = 8; }));
}

TEST(SetAsideTest, IncompleteSuspendedAndUnfinishedOnesAlwaysGoAndAreNotOfTheGroup) {
  std::vector<EventRow> rows = Alike(7);
  rows.push_back(SomeRow(7, 1000 * kMs));  // would be the eighth
  for (std::uint64_t i = 8; i < 11; ++i) rows.push_back(SomeRow(i, 100 * kMs));
  rows[8].end_ns = 0;
  rows[9].is_incomplete = true;
  rows[10].is_suspended = true;
  const std::vector<Judgement> verdicts = Judge(rows);
  EXPECT_EQ(verdicts[7].why, Why::kOutlier);  // out of 8
  EXPECT_EQ(verdicts[7].reason, "10.0 times the median of 8 such runs");
  EXPECT_EQ(verdicts[8].why, Why::kNotOver);
  EXPECT_EQ(verdicts[9].why, Why::kIncomplete);
  EXPECT_EQ(verdicts[10].why, Why::kSuspended);
}

TEST(SetAsideTest, NeverSetsAsideEventsThatAUserKeeps) {
  std::vector<EventRow> rows = Alike(19);
  rows.push_back(SomeRow(20, 1000 * kMs));
  rows[19].mark = Mark::kKept;
  rows[0].is_incomplete = true;
  rows[0].mark = Mark::kKept;
  EXPECT_EQ(CountGone(rows), 0);
}

TEST(SetAsideTest, KeepingOneOfTwoKindsDoesNotMakeTheOthersGo) {
  std::vector<EventRow> rows = Alike(10);
  for (std::size_t i = 7; i < 10; ++i) rows[i] = SomeRow(i, 400 * kMs);
  rows[9].mark = Mark::kKept;
  EXPECT_EQ(CountGone(rows), 0);
}

TEST(SetAsideTest, EventsSetAsideByHandDoNotCountForTheOthers) {
  std::vector<EventRow> rows = Alike(10);
  rows.push_back(SomeRow(10, 100 * kMs));
  rows[10].mark = Mark::kSetAside;
  rows[10].mark_reason = "backup ran";
  for (std::size_t i = 8; i < 10; ++i) rows[i] = SomeRow(i, 400 * kMs);
  const std::vector<Judgement> verdicts = Judge(rows);
  EXPECT_EQ(verdicts[10].why, Why::kByHand);
  EXPECT_EQ(verdicts[10].reason, "backup ran");
  EXPECT_EQ(verdicts[9].reason, "4.0 times the median of 10 such runs");
  rows[10].mark_reason.clear();
  EXPECT_EQ(Judge(rows)[10].reason, "set aside by hand");
}

TEST(SetAsideTest, ReturnsNothingWithoutEvents) { EXPECT_TRUE(Judge({}).empty()); }

// The numbers of the table in README.md, which probe_table prints for more rounds.
TEST(SetAsideTest, CleanRunsHardlyEverGoAndDirtyOnesNearlyAlways) {
  for (const auto& [runs, clean, twice, four_times] :
       {std::tuple(8, 0.004, 0.93, 0.98), std::tuple(20, 0.001, 0.99, 0.999)}) {
    const RunPlan plan{.runs = static_cast<std::size_t>(runs), .spread = 0.1, .rounds = 2000};
    EXPECT_LT(ShareOfCleanThatGo(plan), clean) << runs;
    EXPECT_GT(ShareOfDirtyThatGo(plan, 2), twice) << runs;
    EXPECT_GT(ShareOfDirtyThatGo(plan, 4), four_times) << runs;
  }
}

}  // namespace
}  // namespace fieldcost::probe
