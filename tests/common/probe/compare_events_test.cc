#include "common/probe/compare_events.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/common/probe/simulation.h"
#include "tests/common/probe/some_events.h"

namespace fieldcost::probe {
namespace {

constexpr std::uint64_t kMs = 1'000'000;

// `count` events with steps of `first` and `second` ms, and a little more each.
std::vector<Event> Group(std::size_t count, std::uint64_t first, std::uint64_t second) {
  std::vector<Event> events;
  for (std::uint64_t i = 0; i < count; ++i) {
    events.push_back(EventOfSteps(i, {first * kMs + i * 1000, second * kMs + i * 1000}));
  }
  return events;
}

TEST(CompareTest, TheStepThatIsSlowerIsNamedAndTheOthersAreNot) {
  const Comparison comparison = Compare(Group(6, 10, 20), Group(7, 10, 40), 0.1);
  EXPECT_EQ(comparison.total.change, inference::Verdict::kMore);
  EXPECT_NEAR(comparison.total.ratio, 50.0 / 30, 1e-3);
  EXPECT_EQ(comparison.total.base_events, 6u);
  EXPECT_EQ(comparison.total.new_events, 7u);
  EXPECT_EQ(comparison.total.name, "");
  ASSERT_EQ(comparison.steps.size(), 2u);
  EXPECT_EQ(comparison.steps[0].name, "step 1");
  EXPECT_EQ(comparison.steps[0].change, inference::Verdict::kNone);
  const StepChange& slower = comparison.steps[1];
  EXPECT_EQ(slower.change, inference::Verdict::kMore);
  EXPECT_NEAR(slower.base_ns, 20 * kMs, 0.01 * kMs);
  EXPECT_NEAR(slower.new_ns, 40 * kMs, 0.01 * kMs);
  EXPECT_LT(slower.ratio_low, slower.ratio);
  EXPECT_GT(slower.ratio_high, slower.ratio);
  EXPECT_GE(slower.q, slower.p);
  EXPECT_EQ(Compare(Group(7, 10, 40), Group(6, 10, 20), 0.1).steps[1].change,
            inference::Verdict::kLess);
}

TEST(CompareTest, IgnoresChangesWithinTheTolerance) {
  const Comparison comparison = Compare(Group(9, 10, 20), Group(9, 10, 21), 0.1);
  EXPECT_EQ(comparison.steps[1].change, inference::Verdict::kNone);
  EXPECT_LT(comparison.steps[1].q, 0.001);
  EXPECT_EQ(Compare(Group(9, 10, 20), Group(9, 10, 21), 0.04).steps[1].change,
            inference::Verdict::kMore);
}

TEST(CompareTest, FewerThanFiveEventsAreTooLittleToTell) {
  const Comparison comparison = Compare(Group(4, 10, 20), Group(20, 10, 90), 0);
  EXPECT_EQ(comparison.total.change, inference::Verdict::kTooLittleData);
  EXPECT_EQ(comparison.total.p, 1);
  EXPECT_EQ(comparison.total.q, 1);
  EXPECT_NEAR(comparison.steps[1].ratio, 4.5, 1e-3);
  EXPECT_GT(comparison.steps[1].ratio_low, 4);
  const Comparison one = Compare(Group(1, 10, 20), Group(20, 10, 90), 0);
  EXPECT_EQ(one.total.ratio_low, 0);
  EXPECT_EQ(one.total.ratio_high, 0);
  const Comparison none = Compare({}, Group(20, 10, 90), 0);
  EXPECT_EQ(none.total.base_ns, 0);
  EXPECT_EQ(none.total.ratio, 1);
  EXPECT_EQ(Compare({}, {}, 0).total.change, inference::Verdict::kTooLittleData);
}

TEST(CompareTest, AStepThatOnlyOneSideHasIsShownAndNotTested) {
  std::vector<Event> changed = Group(8, 10, 20);
  for (Event& event : changed) event.hits.back().site.label = "new step";
  const Comparison comparison = Compare(Group(8, 10, 20), changed, 0);
  ASSERT_EQ(comparison.steps.size(), 3u);
  EXPECT_EQ(comparison.steps[2].name, "new step");
  EXPECT_EQ(comparison.steps[2].base_events, 0u);
  EXPECT_EQ(comparison.steps[2].new_events, 8u);
  EXPECT_EQ(comparison.steps[2].change, inference::Verdict::kTooLittleData);
  EXPECT_EQ(comparison.total.change, inference::Verdict::kNone);
}

TEST(CompareTest, EventsThatAreNotOverHaveStepsAndNoTotal) {
  std::vector<Event> changed = Group(6, 10, 20);
  changed[0].row.end_ns = 0;
  const Comparison comparison = Compare(Group(6, 10, 20), changed, 0);
  EXPECT_EQ(comparison.total.new_events, 5u);
  EXPECT_EQ(comparison.steps[0].new_events, 6u);
}

TEST(CompareTest, NoTimeCountsAsANanosecond) {
  const Comparison comparison = Compare(Group(6, 0, 20), Group(6, 0, 20), 0);
  EXPECT_EQ(comparison.steps[0].change, inference::Verdict::kNone);
  std::vector<Event> none = Group(6, 10, 20);
  for (Event& event : none) event.hits[1].ns = event.hits[0].ns;
  EXPECT_EQ(Compare(none, Group(6, 10, 20), 0).steps[0].base_ns, 1);
}

// The numbers of the tables in README.md, which probe_table prints for more rounds.
TEST(CompareTest, EqualGroupsAreRarelyCalledDifferent) {
  for (const std::size_t runs : {5u, 10u, 20u}) {
    const RunPlan plan{.runs = runs, .spread = 0.1, .rounds = 4000};
    const Called called = ShareOfTotalsCalled(plan, 1, 0);
    EXPECT_LT(called.slower + called.faster, 0.015) << runs;
    EXPECT_GT(called.slower + called.faster, 0.005) << runs;
    EXPECT_LT(ShareOfTotalsCalled(plan, 1, 0.1).slower, 0.01) << runs;
  }
  EXPECT_LT(ShareWithAnyStepCalled({.runs = 10, .rounds = 500}, 20, 1), 0.03);
  EXPECT_LT(ShareWithAnyStepCalled({.runs = 10, .rounds = 200}, 4, 30), 0.04);
}

TEST(CompareTest, AFifthMoreIsFoundInTenRunsAndHalfMoreInFive) {
  EXPECT_GT(ShareOfTotalsCalled({.runs = 10, .rounds = 2000}, 1.2, 0).slower, 0.98);
  EXPECT_GT(ShareOfTotalsCalled({.runs = 5, .rounds = 2000}, 1.5, 0.1).slower, 0.98);
}

// On a busy machine, runs differ mostly by their wait for a CPU.
TEST(CompareTest, AStepIsFoundOnABusyMachineAndNoneThatIsEqual) {
  const BusyCalled planted = ShareOfBusyStepsCalled({.runs = 10, .rounds = 2000}, 1.5);
  EXPECT_GT(planted.slower, 0.98);
  EXPECT_LT(planted.other, 0.03);
  const BusyCalled equal = ShareOfBusyStepsCalled({.runs = 10, .rounds = 2000}, 1);
  EXPECT_LT(equal.slower + equal.other, 0.03);
}

// A side may have waited longer because of the change itself.
TEST(CompareTest, KeepsDifferencesThatGoAlongWithASidesWait) {
  const auto group = [](std::uint64_t first_run, std::uint64_t ms, std::uint64_t waited) {
    std::vector<Event> events;
    for (std::uint64_t i = 0; i < 8; ++i) {
      events.push_back(EventOfSteps(i, {ms * kMs + i * 1000, 5 * kMs}));
      events.back().row.id.run = first_run + i;
      events.back().row.observed_ns = 1000;
      events.back().row.waited_ns = waited + i;
    }
    return events;
  };
  const Comparison apart = Compare(group(1, 10, 0), group(11, 20, 500), 0);
  EXPECT_FALSE(apart.at_equal_wait);
  EXPECT_EQ(apart.steps[0].change, inference::Verdict::kMore);
  EXPECT_NEAR(apart.steps[0].ratio, 2, 1e-3);
  const Comparison alike = Compare(group(1, 10, 300), group(11, 20, 300), 0);
  EXPECT_TRUE(alike.at_equal_wait);
  EXPECT_EQ(alike.steps[0].change, inference::Verdict::kMore);
  std::vector<Event> unknown = group(11, 20, 300);
  unknown[3].row.observed_ns = 0;
  EXPECT_FALSE(Compare(group(1, 10, 300), unknown, 0).at_equal_wait);
}

EventRow RowOf(const std::string& build, std::uint64_t number, std::uint64_t total_ns) {
  EventRow row = SomeRow(number, total_ns);
  row.build = build;
  return row;
}

TEST(HistoryTest, BuildsStandInTheOrderOfTheirFirstEventWithWhatChanged) {
  std::vector<EventRow> rows;
  for (std::uint64_t i = 0; i < 9; ++i) {
    rows.push_back(RowOf("1.10", 200 + i, 30 * kMs + i * 1000));
    rows.push_back(RowOf("1.9", 100 + i, 20 * kMs + i * 1000));
    rows.push_back(RowOf("1.11", 150 + i, 20 * kMs + i * 1000));
  }
  rows.push_back(RowOf("1.12", 300, 90 * kMs));
  rows.push_back(RowOf("1.12", 301, 0));
  rows.back().end_ns = 0;
  const std::vector<HistoryLine> lines = History(rows, 0.05);
  ASSERT_EQ(lines.size(), 1u);
  const std::vector<BuildPoint>& history = lines[0].builds;
  ASSERT_EQ(history.size(), 4u);
  EXPECT_EQ(history[0].build, "1.9");
  EXPECT_EQ(history[1].build, "1.11");
  EXPECT_EQ(history[2].build, "1.10");
  EXPECT_EQ(history[3].build, "1.12");
  EXPECT_EQ(history[0].change.change, inference::Verdict::kTooLittleData);
  EXPECT_EQ(history[1].change.change, inference::Verdict::kNone);
  EXPECT_EQ(history[2].change.change, inference::Verdict::kMore);
  EXPECT_NEAR(history[2].change.ratio, 1.5, 1e-3);
  EXPECT_EQ(history[3].change.change, inference::Verdict::kTooLittleData);
  EXPECT_EQ(history[3].events, 1u);
  EXPECT_EQ(history[0].median_ns, 20 * kMs + 4000);
  EXPECT_EQ(history[0].low_ns, 20 * kMs + 2000);
  EXPECT_EQ(history[0].high_ns, 20 * kMs + 6000);
  EXPECT_EQ(history[0].first_ns, kSomeTimeNs + 100);
  EXPECT_TRUE(History({}, 0).empty());
}

// One line per program and set of tags: groups that differ for other reasons are not compared.
TEST(HistoryTest, NeverMixesProgramsOrTags) {
  std::vector<EventRow> rows;
  const auto add = [&](const std::string& build, const std::string& tag, const std::string& program,
                       std::uint64_t total_ns, int count) {
    for (int i = 0; i < count; ++i) {
      rows.push_back(RowOf(build, rows.size(), total_ns + rows.size() % 8 * 1000));
      rows.back().tags = {tag};
      rows.back().program = program;
    }
  };
  add("1.0", "warm", "editor", 20 * kMs, 16);
  add("1.0", "cold", "editor", 60 * kMs, 16);
  add("1.1", "cold", "editor", 60 * kMs, 16);
  add("1.1", "warm", "viewer", 90 * kMs, 16);
  const std::vector<HistoryLine> lines = History(rows, 0);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0].tags, std::vector<std::string>{"cold"});
  ASSERT_EQ(lines[0].builds.size(), 2u);
  EXPECT_NEAR(lines[0].builds[0].median_ns, 60 * kMs, 0.1 * kMs);
  EXPECT_EQ(lines[0].builds[1].change.change, inference::Verdict::kNone);
  EXPECT_EQ(lines[1].tags, std::vector<std::string>{"warm"});
  EXPECT_EQ(lines[1].builds.size(), 1u);
  EXPECT_EQ(lines[2].program, "viewer");
}

// Events of one run share its conditions: a slow run must not count 100 times.
TEST(CompareTest, RunsRatherThanTheirEventsAreCounted) {
  const auto group = [](std::uint64_t first_run, std::uint64_t slow_runs) {
    std::vector<Event> events;
    for (std::uint64_t run = 0; run < 6; ++run) {
      for (std::uint64_t i = 0; i < 50; ++i) {
        const std::uint64_t ms = run < slow_runs ? 15 : 10;
        events.push_back(EventOfSteps(events.size(), {ms * kMs + i * 1000, 5 * kMs}));
        events.back().row.id.run = first_run + run;
      }
    }
    return events;
  };
  const Comparison one_more = Compare(group(1, 2), group(11, 3), 0);
  EXPECT_TRUE(one_more.by_run);
  EXPECT_EQ(one_more.total.base_events, 300u);
  EXPECT_EQ(one_more.total.base_values, 6u);
  EXPECT_EQ(one_more.total.change, inference::Verdict::kNone);
  EXPECT_EQ(one_more.steps[0].change, inference::Verdict::kNone);
  EXPECT_EQ(Compare(group(1, 0), group(11, 6), 0).steps[0].change, inference::Verdict::kMore);
  EXPECT_FALSE(Compare(Group(6, 10, 20), group(11, 0), 0).by_run);
}

}  // namespace
}  // namespace fieldcost::probe
