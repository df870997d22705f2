#include <gtest/gtest.h>

#include <cstring>

#include "tests/agent/volunteer/agent_fixture.h"

// Users can query their own sums by request, by time and by number of runs, erase them, and pause.

namespace fieldcost::volunteer {
namespace {

using testing::RunFileOptions;
using testing::RunFileWriter;

class LocalSumsTest : public AgentFixture {
 protected:
  void SetUp() override { WriteConfig(); }
};

TEST_F(LocalSumsTest, FindsTheSumsOfARequestByItsNumber) {
  Agent agent = OpenAgent(settings::Mode::kOn);
  RunFileOptions options = Ended();
  options.request_id = 7;
  options.asked = true;
  WriteRun("a", {3}, options);
  WriteRun("b", {5}, options);  // a child process
  options.request_id = 8;
  options.asked = false;
  WriteRun("c", {9}, options);
  WriteRun("d", {11});
  ASSERT_TRUE(agent.Harvest());
  const auto found = agent.RowsOfRequest(7);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(Sum(found->rows), HistogramOf({3, 5}));
  EXPECT_FALSE(found->any_fielded);
  EXPECT_EQ(Sum(agent.RowsOfRequest(8)->rows), HistogramOf({9}));
  EXPECT_TRUE(agent.RowsOfRequest(8)->any_fielded);
  EXPECT_TRUE(agent.RowsOfRequest(0)->rows.empty());
  EXPECT_TRUE(agent.RowsOfRequest(9)->rows.empty());
  EXPECT_EQ(Sum(*agent.LocalRows()), HistogramOf({3, 5, 9, 11}));
  const RunCounts runs = agent.GetStatus()->measuring.runs;
  EXPECT_EQ(runs.drawn, 2U);
  EXPECT_EQ(runs.asked, 2U);
}

TEST_F(LocalSumsTest, SumsSinceATimeExcludeEarlierCalls) {
  Agent agent = OpenAgent(settings::Mode::kLocal);
  WriteRun("a", {3});
  RunFileWriter living(RunPath("b"), Living());
  living.Add(5);
  clock_.Advance(std::chrono::seconds(10));
  ASSERT_TRUE(agent.Harvest());
  living.Add(7);  // after that harvest
  WriteRun("c", {9}, Ended());
  clock_.Advance(std::chrono::seconds(10));
  ASSERT_TRUE(agent.Harvest());
  const auto since = [&](int seconds) {
    return Sum(*agent.LocalRowsOf({.from = kStart + std::chrono::seconds(seconds)}));
  };
  EXPECT_EQ(since(0), HistogramOf({3, 5, 7, 9}));
  EXPECT_EQ(since(1), HistogramOf({7, 9}));
  EXPECT_EQ(since(10), HistogramOf({7, 9}));
  EXPECT_EQ(since(11).count(), 0U);
  EXPECT_EQ(Sum(*agent.LocalRowsOf({.before = kStart + std::chrono::seconds(10)})),
            HistogramOf({3, 5}));
}

TEST_F(LocalSumsTest, CountsARunOnceHoweverOftenItIsRead) {
  Agent agent = OpenAgent(settings::Mode::kLocal);
  {
    RunFileWriter file(RunPath("a"), Living());
    ASSERT_TRUE(agent.Harvest());  // nothing has been called yet
    file.Add(7);
    ASSERT_TRUE(agent.Harvest());
    ASSERT_TRUE(agent.Harvest());
    file.End();
    ASSERT_TRUE(agent.Harvest());
  }
  WriteRun("b", {});
  ASSERT_TRUE(agent.Harvest());
  EXPECT_EQ(agent.GetStatus()->measuring.runs.drawn, 2U);
}

TEST_F(LocalSumsTest, RunsThatWereNotDrawnAreAddedUpAcrossBoots) {
  Agent agent = OpenAgent(settings::Mode::kLocal);
  const auto set_count = [this](std::uint64_t count) {
    auto bytes = ReadFile(paths_.skip_file(), sizeof(shm::SkipFile));
    ASSERT_TRUE(bytes);
    shm::SkipFile skips;
    std::memcpy(&skips, bytes->data(), sizeof skips);
    skips.counts[static_cast<std::uint32_t>(shm::Skip::kNotDrawn)] = count;
    std::memcpy(bytes->data(), &skips, sizeof skips);
    ASSERT_TRUE(WriteFileAtomically(paths_.skip_file(), *bytes, 0600));
  };
  for (const std::uint64_t count : {15, 15, 40, 3}) {  // the last one after a reboot
    set_count(count);
    ASSERT_TRUE(agent.Harvest());
  }
  const auto status = agent.GetStatus();
  EXPECT_EQ(status->measuring.runs.not_drawn, 43U);
  EXPECT_TRUE(status->measuring.skips.empty()) << "it is no obstacle";
  // Those that no harvest has added yet are included once.
  set_count(10);
  EXPECT_EQ(agent.GetStatus()->measuring.runs.not_drawn, 50U);
  ASSERT_TRUE(agent.Harvest());
  EXPECT_EQ(agent.GetStatus()->measuring.runs.not_drawn, 50U);
}

TEST_F(LocalSumsTest, ForgettingLocalSumsKeepsDataToBeSent) {
  Agent agent = OpenAgent(settings::Mode::kOn);
  RunFileWriter living(RunPath("a"), Living());
  living.Add(5);
  WriteRun("b", {3});
  ASSERT_TRUE(agent.ForgetLocal());  // including unharvested runs
  EXPECT_TRUE(agent.LocalRows()->empty());
  EXPECT_TRUE(agent.LocalRowsOf({})->empty());
  EXPECT_TRUE(agent.Preview()->has_value());
  living.Add(7);
  living.End();
  ASSERT_TRUE(agent.Harvest());
  EXPECT_EQ(Sum(*agent.LocalRows()), HistogramOf({7})) << "what came after it, and once";
}

TEST_F(LocalSumsTest, APauseNotifiesProgramsAndKeepsUnsentData) {
  Agent agent = OpenAgent(settings::Mode::kOn);
  WriteRun("a", {3});
  EXPECT_TRUE(PolicySaysMeasure());
  ASSERT_TRUE(agent.Pause(settings::kUntilResumed));
  EXPECT_FALSE(PolicySaysMeasure());
  ASSERT_TRUE(agent.Harvest());
  EXPECT_EQ(Sum(*agent.LocalRows()), HistogramOf({3})) << "it began before";
  EXPECT_TRUE(agent.Preview()->has_value());
  const auto report = agent.Upload(UploadWish::kEverythingNow);
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_TRUE(report->stopped_by);
  EXPECT_EQ(report->stopped_by->code, ErrorCode::kPermissionDenied);
  const auto status = agent.GetStatus();
  EXPECT_EQ(status->paused_until, settings::kUntilResumed);
  EXPECT_EQ(status->consent.mode, settings::Mode::kOn);
  EXPECT_EQ(status->measuring.policy_problem, "");
  EXPECT_TRUE(*agent.Resume());
  EXPECT_TRUE(PolicySaysMeasure());
  EXPECT_FALSE(*agent.Resume());
}

}  // namespace
}  // namespace fieldcost::volunteer
