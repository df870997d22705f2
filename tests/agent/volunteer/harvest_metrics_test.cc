// Data recorded about a run in addition to its cells: calls per run, the first call, the cost of
// measuring.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bit>
#include <functional>
#include <map>
#include <random>

#include "agent/harvest/harvester.h"
#include "tests/agent/volunteer/agent_fixture.h"

namespace fieldcost::volunteer {
namespace {

using testing::RunFileOptions;
using testing::RunFileWriter;
using testing::WrittenPick;

constexpr auto kCallsPerRun = stats::Metric::kCallsPerRun;
constexpr auto kFirstCallTime = stats::Metric::kFirstCallTime;
constexpr auto kTimePerRun = stats::Metric::kTimePerRun;

class HarvestMetricsTest : public AgentFixture {
 protected:
  void SetUp() override { WriteConfig(); }

  void Harvest(Agent& agent) {
    const auto report = agent.Harvest();
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(report->files_refused, 0U) << report->refused_reason;
  }
  static stats::CostHistogram Calls(const Agent& agent) {
    return Sum(*agent.LocalRows(), kCallsPerRun);
  }
};

TEST_F(HarvestMetricsTest, CallsOfAFinishedRunAreItsTimedAndItsUntimedOnes) {
  Agent agent = OpenAgent(settings::Mode::kLocal);
  {
    RunFileWriter file(RunPath("a"), Ended());
    file.Add(3, 0);
    file.Add(4, 1);
    file.cell(1).nested = 10;
    file.cell(1).abandoned = 100;
    file.counter(1) = shm::MakeCallCounter(5000, 30);
    file.counter(255) = shm::MakeCallCounter(2000, 0);
    file.cell(255).sampled = 2;  // of those 2000, two were measured, and
    file.Add(5, 255);            // one has returned
    file.cell(255).abandoned = 1;
  }
  Harvest(agent);
  EXPECT_EQ(Calls(agent), HistogramOf({3 + 101 + 10 + 5000 + 2000 - 2}));
  EXPECT_EQ(agent.GetStatus()->measuring.timed_calls, 3U + 101);
  EXPECT_EQ(agent.GetStatus()->measuring.untimed_calls, 10U + 5000 + 2000 - 2);
}

TEST_F(HarvestMetricsTest, EachPickAndRunGivesOneValueAndZeroCallsNone) {
  Agent agent = OpenAgent(settings::Mode::kLocal);
  RunFileOptions options = Ended();
  options.picks = {WrittenPick{.symbol = "one"}, WrittenPick{.symbol = "two"},
                   WrittenPick{.symbol = "none"}};
  for (const std::uint64_t calls : {7, 300}) {
    RunFileWriter file(RunPath(std::to_string(calls)), options);
    file.counter(0, 0) = shm::MakeCallCounter(calls, 9);
    file.counter(3, 1) = shm::MakeCallCounter(2 * calls, 0);
  }
  Harvest(agent);
  const auto rows = RowsOf(*agent.LocalRows(), kCallsPerRun);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].key.api.symbol, "one");
  EXPECT_EQ(rows[0].histogram, HistogramOf({7, 300}));
  EXPECT_EQ(rows[1].histogram, HistogramOf({14, 600}));
}

// A truncated count would be published as that of a complete run, perhaps a hundred times too
// small.
TEST_F(HarvestMetricsTest, CallsOfAPickThatWasNotMeasuredAllTheTimeAreNotACount) {
  struct Case {
    std::string name;
    std::function<void(RunFileWriter&)> change;
  };
  const Case kCases[] = {
      {"dropped", [](RunFileWriter& file) { file.pick(0).phase = shm::kPickDropped; }},
      {"phase is over", [](RunFileWriter& file) { file.pick(0).phase = shm::kPickEnded; }},
      {"late", [](RunFileWriter& file) { file.pick(0).start_unix_ns += 1; }},
      {"calls lost", [](RunFileWriter& file) { file.header().lost_calls = 1; }},
      {"detached", [](RunFileWriter& file) { file.header().attached = 0; }},
  };
  Agent agent = OpenAgent(settings::Mode::kLocal);
  for (const Case& cut : kCases) {
    {
      RunFileWriter file(RunPath(cut.name), Ended());
      file.counter() = shm::MakeCallCounter(76'000, 0);
      file.Add(5);
      cut.change(file);
    }
    Harvest(agent);
    EXPECT_TRUE(Calls(agent).empty()) << cut.name;
  }
  EXPECT_EQ(Sum(*agent.LocalRows()), HistogramOf({5, 5, 5, 5, 5}));
  {
    RunFileWriter file(RunPath("whole"), Ended());
    file.counter() = shm::MakeCallCounter(76'000, 0);
  }
  Harvest(agent);
  EXPECT_EQ(Calls(agent), HistogramOf({76'000}));
}

TEST_F(HarvestMetricsTest, AddsLaterReportsOfARunButNotAsCallsPerRun) {
  Agent agent = OpenAgent(settings::Mode::kLocal);
  RunFileOptions options = Living();
  options.pick_capacity = 3;
  RunFileWriter file(RunPath("a"), options);
  file.counter() = shm::MakeCallCounter(8, 4);
  file.Add(5);
  Harvest(agent);
  file.pick(0).phase = shm::kPickEnded;
  file.AddPick(WrittenPick{.symbol = "second"});
  file.Add(6, 0, 1);
  Harvest(agent);
  file.pick(1).phase = shm::kPickDropped;
  file.AddPick(WrittenPick{.symbol = "third"});
  file.pick(2).start_unix_ns += 1;
  file.Add(7, 2, 2);
  Harvest(agent);
  EXPECT_TRUE(Calls(agent).empty());
  EXPECT_EQ(Sum(*agent.LocalRows()), HistogramOf({5, 6, 7}));
  EXPECT_EQ(agent.GetStatus()->measuring.dropped_picks, 1U);
  file.Add(50);  // was in progress when the pick ended
  file.End();
  Harvest(agent);
  EXPECT_TRUE(Calls(agent).empty());
  EXPECT_EQ(Sum(*agent.LocalRows()), HistogramOf({5, 6, 7, 50}));
  EXPECT_EQ(agent.GetStatus()->measuring.dropped_picks, 1U);
  EXPECT_FALSE(std::filesystem::exists(RunPath("a")));
}

// Makes a pick represent `power` runs, regardless of rounding.
void StandFor(RunFileWriter& file, std::uint32_t pick, std::uint32_t power) {
  file.header().time_per_65536 = shm::kCertain;
  shm::Pick& to = file.pick(pick);
  to.weight_left = std::uint64_t{shm::kFullWeight} / 16 * power;
  to.weight = shm::kFullWeight / 16;
  to.picks_wanted = 1;
  to.watched_per_65536 = shm::kCertain;
}

TEST_F(HarvestMetricsTest, TimePerRunRepresentsUnmeasuredRuns) {
  Agent agent = OpenAgent(settings::Mode::kLocal);
  RunFileOptions options = Living();
  options.picks = {WrittenPick{.symbol = "one"}, WrittenPick{.symbol = "dropped"},
                   WrittenPick{.symbol = "busy"}, WrittenPick{.symbol = "not_called"},
                   WrittenPick{.symbol = "later"}};
  RunFileWriter file(RunPath("a"), options);
  for (std::uint32_t pick = 0; pick < 5; ++pick) StandFor(file, pick, 32);
  file.pick(1).phase = shm::kPickDropped;
  file.pick(2).flags = shm::kPickBusy;
  file.pick(4).flags = shm::kPickLater;
  file.pick(4).selection_per_65536 = shm::kCertain / 4;
  file.Add(100, 0, 0);
  file.Add(10, 1, 0, 0, 8);  // eight calls
  file.Add(7, 0, 1);
  file.Add(9, 0, 2);
  file.Add(5, 0, 4);
  Harvest(agent);
  EXPECT_TRUE(RowsOf(*agent.LocalRows(), kTimePerRun).empty()) << "it may go on";
  file.End();
  Harvest(agent);
  const auto rows = RowsOf(*agent.LocalRows(), kTimePerRun);
  using CountAndSum = std::pair<std::uint64_t, stats::Uint128>;
  std::map<std::string, CountAndSum> found;
  for (const stats::StatRow& row : rows) {
    found[row.key.api.symbol] = {row.histogram.count(), row.histogram.sum()};
  }
  const std::map<std::string, CountAndSum> expected = {{"one", {32, 32 * 180}},
                                                       {"dropped", {32, 32 * 7}},
                                                       {"busy", {32, 32 * 9}},
                                                       {"later", {128, 128 * 5}}};
  EXPECT_TRUE(found == expected);
  const auto busy = RowsOf(*agent.LocalRows(), stats::Metric::kWallTimeBusy);
  ASSERT_EQ(busy.size(), 1U);
  EXPECT_EQ(busy[0].key.api.symbol, "busy");
  EXPECT_EQ(busy[0].histogram, HistogramOf({9}));
  EXPECT_EQ(Sum(*agent.LocalRows()).count(), 9U + 1 + 1);
  EXPECT_EQ(agent.GetStatus()->measuring.timed_calls, 2U + 1 + 1 + 1);
}

TEST_F(HarvestMetricsTest, CountsRepresentativeCallsOnceDuringTheRun) {
  Agent agent = OpenAgent(settings::Mode::kLocal);
  RunFileWriter file(RunPath("a"), Living());
  stats::CostHistogram expected;
  for (const std::uint64_t weight : {1, 8, 16, 16, 64}) {
    file.Add(10, 0, 0, 0, weight);
    expected.Add(10, weight);
    Harvest(agent);
    EXPECT_EQ(Sum(*agent.LocalRows()), expected);
  }
  file.End();
  Harvest(agent);
  EXPECT_EQ(Sum(*agent.LocalRows()), expected);
  EXPECT_EQ(agent.GetStatus()->measuring.timed_calls, 5U);
}

TEST_F(HarvestMetricsTest, ForcedPicksAndUnknownSharesAreNotExtrapolated) {
  Agent agent = OpenAgent(settings::Mode::kLocal);
  for (const bool forced : {false, true}) {
    RunFileOptions options = Ended();
    options.forced = forced;
    RunFileWriter file(RunPath(forced ? "forced" : "not"), options);
    StandFor(file, 0, 32);
    if (!forced) file.pick(0).watched_per_65536 = 0;
    file.Add(100);
  }
  Harvest(agent);
  EXPECT_EQ(Sum(*agent.LocalRows()), HistogramOf({100, 100}));
  EXPECT_TRUE(RowsOf(*agent.LocalRows(), kTimePerRun).empty());
}

TEST_F(HarvestMetricsTest, TimeOfManyRunsIsThatOfAllWithoutBias) {
  constexpr std::uint32_t kRuns = 4000;
  std::uint64_t sum = 0;
  for (std::uint32_t run = 0; run < kRuns; ++run) {
    const runs::RunInfo info{.random_draw = run};
    runs::RunContent content;
    content.picks.push_back({.calls = runs::PickCalls{.timed = 1},
                             .drawn = {.weight_left = 50 * 1000,
                                       .weight = 3000,
                                       .wanted = 1,
                                       .order = 0,
                                       .watched_per_65536 = shm::kCertain},
                             .chances = {}});
    content.cells.push_back({.pick = 0, .metric = stats::Metric::kWallTime, .histogram = {}});
    content.cells[0].histogram.Add(10);
    const auto cells = harvest::SingleValues(info, content, true);
    ASSERT_EQ(cells.size(), 1U);
    EXPECT_EQ(cells[0].histogram.timed(), 1U);
    EXPECT_TRUE(std::has_single_bit(cells[0].histogram.count()));
    sum += static_cast<std::uint64_t>(cells[0].histogram.sum());
  }
  EXPECT_NEAR(static_cast<double>(sum) / kRuns / 10, 50 / 3.0, 0.25);  // 5 standard errors
}

TEST_F(HarvestMetricsTest, ReportsTheFirstCallOnce) {
  Agent agent = OpenAgent(settings::Mode::kLocal);
  RunFileWriter file(RunPath("a"), Living());
  Harvest(agent);
  EXPECT_TRUE(agent.LocalRows()->empty());
  file.pick(0).first_call_ns = 1234 + 1;
  file.Add(1234);
  Harvest(agent);
  file.Add(5);
  Harvest(agent);
  file.End();
  Harvest(agent);
  EXPECT_EQ(Sum(*agent.LocalRows(), kFirstCallTime), HistogramOf({1234}));
  EXPECT_EQ(Calls(agent), HistogramOf({2}));
}

TEST_F(HarvestMetricsTest, FirstCallOfNoTimeAtAllIsAValue) {
  Agent agent = OpenAgent(settings::Mode::kLocal);
  {
    RunFileWriter file(RunPath("a"), Ended());
    file.pick(0).first_call_ns = 1;
  }
  Harvest(agent);
  EXPECT_EQ(Sum(*agent.LocalRows(), kFirstCallTime), HistogramOf({0}));
}

TEST_F(HarvestMetricsTest, OverheadIsSummedFromDifferences) {
  Agent agent = OpenAgent(settings::Mode::kLocal);
  RunFileWriter file(RunPath("a"), Living());
  file.header().timed_call_ps = 60'000;
  file.header().untimed_call_ps = 2'000;
  file.Add(1);
  file.counter() = shm::MakeCallCounter(50, 3);
  Harvest(agent);
  EXPECT_EQ(agent.GetStatus()->measuring.overhead_ns, 60U + 100);
  Harvest(agent);
  EXPECT_EQ(agent.GetStatus()->measuring.overhead_ns, 60U + 100) << "nothing was added twice";
  file.Add(1);
  file.counter() = shm::MakeCallCounter(51, 2);
  file.End();
  Harvest(agent);
  const auto status = agent.GetStatus();
  EXPECT_EQ(status->measuring.overhead_ns, 120U + 102);
  EXPECT_EQ(status->measuring.timed_calls, 2U);
  EXPECT_EQ(status->measuring.untimed_calls, 51U);
}

TEST_F(HarvestMetricsTest, HostileNumbersAreCutOrRefusedAndTheRestCounts) {
  Agent agent = OpenAgent(settings::Mode::kLocal);
  RunFileOptions options = Ended();
  options.picks.assign(4, WrittenPick{});
  for (std::size_t i = 0; i < options.picks.size(); ++i) {
    options.picks[i].symbol = "s" + std::to_string(i);
  }
  {
    RunFileWriter file(RunPath("a"), options);
    constexpr std::uint64_t kMost = ~std::uint64_t{0};
    file.header().timed_call_ps = ~std::uint32_t{0};
    file.header().untimed_call_ps = ~std::uint32_t{0};
    file.header().lost_calls = kMost;
    for (std::uint32_t slot = 0; slot < shm::kThreadSlots; ++slot) {
      file.cell(slot, 0).nested = kMost;
      file.cell(slot, 0).abandoned = kMost;
      file.counter(slot, 1) = shm::kCallCountMask;
      file.cell(slot, 2).sampled = kMost;
    }
    file.Add(77, 0, 2);
    file.Add(5, 0, 3);
    for (std::uint32_t pick = 0; pick < 4; ++pick) file.pick(pick).first_call_ns = kMost;
  }
  const auto report = agent.Harvest();
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->cells_refused, 3U);
  EXPECT_EQ(Sum(*agent.LocalRows()), HistogramOf({77, 5}));
  EXPECT_TRUE(Calls(agent).empty()) << "the run reports lost calls";
  EXPECT_TRUE(RowsOf(*agent.LocalRows(), kFirstCallTime).empty());
  const auto status = agent.GetStatus();
  EXPECT_EQ(status->measuring.lost_calls, runs::kMaxRunCalls);
  EXPECT_EQ(status->measuring.overhead_ns, 1000U) << "a call costs at most a microsecond";
  EXPECT_TRUE(agent.Harvest()) << "and nothing is broken for later";
}

TEST_F(HarvestMetricsTest, RefusedCellIsCountedOnceHoweverOftenTheRunIsRead) {
  Agent agent = OpenAgent(settings::Mode::kLocal);
  RunFileWriter file(RunPath("a"), Living());
  file.cell(1).nested = ~std::uint64_t{0};  // an impossible number of calls, and nothing else
  Harvest(agent);
  EXPECT_EQ(agent.GetStatus()->measuring.refused_cells, 1U);
  for (int i = 0; i < 3; ++i) {
    file.Add(5);
    Harvest(agent);
  }
  file.End();
  Harvest(agent);
  EXPECT_EQ(agent.GetStatus()->measuring.refused_cells, 1U);
  EXPECT_EQ(Sum(*agent.LocalRows()), HistogramOf({5, 5, 5}));
}

TEST_F(HarvestMetricsTest, NumbersNeverGoBack) {
  const runs::RunInfo info{.lost_calls = 5};
  runs::RunContent content;
  content.picks.push_back({.dropped = true, .calls = runs::PickCalls{.timed = 10, .untimed = 20}});
  content.picks.push_back({.calls = std::nullopt});
  EXPECT_EQ(harvest::NumbersOf(info, content, {.timed_calls = 11, .untimed_calls = 19}),
            (spool::RunNumbers{.lost_calls = 5,
                               .timed_calls = 11,
                               .untimed_calls = 20,
                               .dropped_picks = 1,
                               .refused_cells = 0}));
}

TEST_F(HarvestMetricsTest, EveryMetricOfARunIsSentAndCallsAreThoseOfTheFirst) {
  Agent agent = OpenAgent(settings::Mode::kOn);
  RunFileOptions options = Ended();
  options.picks[0].metrics = shm::kIoMetrics;
  {
    RunFileWriter file(RunPath("a"), options);
    for (std::uint32_t metric = 0; metric < 4; ++metric) file.Add(metric, 0, 0, metric);
    file.pick(0).first_call_ns = 9;
  }
  const auto report = agent.Harvest();
  ASSERT_TRUE(report);
  EXPECT_EQ(report->calls, 1U);
  const auto preview = agent.Preview();
  ASSERT_TRUE(preview->has_value());
  std::set<stats::Metric> metrics;
  for (const wire::BatchRow& row : (*preview)->content.rows) metrics.insert(row.metric);
  EXPECT_THAT(metrics, ::testing::ElementsAre(stats::Metric::kDiskRead, stats::Metric::kDiskWritten,
                                              stats::Metric::kNetReceived, stats::Metric::kNetSent,
                                              kCallsPerRun, kFirstCallTime));
}

TEST_F(HarvestMetricsTest, KilledProcessIsFinalAtOnce) {
  Agent agent = OpenAgent(settings::Mode::kLocal);
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    RunFileWriter file(RunPath("a"), Living());
    file.Add(5);
    file.counter() = shm::MakeCallCounter(6, 1);
    if (::write(ready[1], "x", 1) != 1) ::_exit(1);
    for (;;) ::pause();
  }
  ::close(ready[1]);
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  ::close(ready[0]);
  EXPECT_EQ(agent.Harvest()->files_left, 1U);
  EXPECT_TRUE(Calls(agent).empty());
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(agent.Harvest()->files_finished, 1U);
  EXPECT_EQ(Calls(agent), HistogramOf({7}));
  EXPECT_EQ(Sum(*agent.LocalRows()), HistogramOf({5}));
}

TEST_F(HarvestMetricsTest, UnmeasurableMetricsHaveTheirReasonInsteadOfARow) {
  Agent agent = OpenAgent(settings::Mode::kLocal);
  RunFileOptions options = Living();
  options.picks = {WrittenPick{.symbol = "hidden", .metrics = shm::kIoMetrics},
                   WrittenPick{.symbol = "seen", .metrics = shm::kIoMetrics}};
  RunFileWriter file(RunPath("a"), options);
  for (std::uint32_t pick = 0; pick < 2; ++pick) {
    for (std::uint32_t metric = 0; metric < 4; ++metric) file.Add(0, 0, pick, metric);
  }
  file.pick(0).not_measured = shm::kReadMapped | shm::kNetInsideLibc;
  file.End();
  Harvest(agent);
  const auto symbols = [&](stats::Metric metric) {
    std::vector<std::string> found;
    for (const stats::StatRow& row : RowsOf(*agent.LocalRows(), metric)) {
      found.push_back(row.key.api.symbol);
      if (metric != stats::Metric::kNotMeasured) {
        EXPECT_EQ(row.histogram, HistogramOf({0}));
      }
    }
    return found;
  };
  using ::testing::ElementsAre;
  EXPECT_THAT(symbols(stats::Metric::kDiskRead), ElementsAre("seen"));
  EXPECT_THAT(symbols(stats::Metric::kDiskWritten), ElementsAre("hidden", "seen"));
  EXPECT_THAT(symbols(stats::Metric::kNetReceived), ElementsAre("seen"));
  EXPECT_THAT(symbols(stats::Metric::kNetSent), ElementsAre("seen"));
  EXPECT_THAT(symbols(stats::Metric::kNotMeasured), ElementsAre("hidden"));
  EXPECT_EQ(RowsOf(*agent.LocalRows(), stats::Metric::kNotMeasured)[0].histogram,
            HistogramOf({shm::kReadMapped, shm::kNetInsideLibc}));
}

}  // namespace
}  // namespace fieldcost::volunteer
