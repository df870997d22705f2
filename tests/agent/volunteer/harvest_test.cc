#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <random>
#include <thread>

#include "tests/agent/volunteer/agent_fixture.h"

namespace fieldcost::volunteer {
namespace {

using ::testing::HasSubstr;
using testing::RunFileOptions;
using testing::RunFileWriter;

class HarvestTest : public AgentFixture {
 protected:
  void SetUp() override { WriteConfig(); }
};

TEST_F(HarvestTest, FinishedRunIsCountedAndRemoved) {
  Agent agent = OpenAgent(settings::Mode::kLocal);
  WriteRun("a", {3, 7, 22});
  const auto report = agent.Harvest();
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->files_read, 1U);
  EXPECT_EQ(report->files_finished, 1U);
  EXPECT_EQ(report->calls, 3U);
  EXPECT_FALSE(std::filesystem::exists(RunPath("a")));
  const auto rows = RowsOf(*agent.LocalRows());
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].key.api.symbol, "victim_call");
  EXPECT_EQ(rows[0].key.week, WeekOf(kStart));
  EXPECT_EQ(rows[0].histogram, HistogramOf({3, 7, 22}));
}

TEST_F(HarvestTest, LivingRunIsCountedByExactDifferences) {
  Agent agent = OpenAgent(settings::Mode::kLocal);
  std::mt19937_64 random(7);
  std::vector<std::uint64_t> values;
  {
    RunFileWriter file(RunPath("a"), Living());
    for (int round = 0; round < 20; ++round) {
      for (std::uint64_t i = random() % 50; i > 0; --i) {
        values.push_back(random() >> (random() % 60 + 4));
        file.Add(values.back(), static_cast<std::uint32_t>(random() % shm::kThreadSlots));
      }
      const auto report = agent.Harvest();
      ASSERT_TRUE(report) << report.error().message;
      EXPECT_EQ(report->files_left, 1U);
      EXPECT_EQ(Sum(*agent.LocalRows()), HistogramOf(values)) << "round " << round;
    }
    file.Add(5);
    values.push_back(5);
    file.End();
  }
  const auto report = agent.Harvest();
  ASSERT_TRUE(report);
  EXPECT_EQ(report->files_finished, 1U);
  EXPECT_EQ(report->calls, 1U);
  EXPECT_EQ(Sum(*agent.LocalRows()), HistogramOf(values));
  EXPECT_EQ(agent.Harvest()->files_read, 0U);
}

TEST_F(HarvestTest, CallsOfTwoWeeksGoToTwoRows) {
  Agent agent = OpenAgent(settings::Mode::kLocal);
  RunFileWriter file(RunPath("a"), Living());
  file.Add(4);
  ASSERT_TRUE(agent.Harvest());
  clock_.Advance(std::chrono::weeks(1));
  file.Add(5);
  ASSERT_TRUE(agent.Harvest());
  const auto rows = RowsOf(*agent.LocalRows());
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].histogram, HistogramOf({4}));
  EXPECT_EQ(rows[1].histogram, HistogramOf({5}));
  EXPECT_EQ(rows[1].key.week, rows[0].key.week + 1);
}

TEST_F(HarvestTest, FileCountedBeforeACrashIsNotCountedAgain) {
  Agent agent = OpenAgent(settings::Mode::kLocal);
  WriteRun("a", {3, 7, 22});
  {
    // The state after a kill between commit and unlink: counted while running, then ended.
    RunFileWriter file(RunPath("b"), Living());
    file.Add(1);
    ASSERT_TRUE(agent.Harvest());
    EXPECT_EQ(Sum(*agent.LocalRows()), HistogramOf({3, 7, 22, 1}));
    file.End();
  }
  const auto report = agent.Harvest();
  ASSERT_TRUE(report);
  EXPECT_EQ(report->files_finished, 1U);
  EXPECT_EQ(report->calls, 0U);
  EXPECT_EQ(Sum(*agent.LocalRows()), HistogramOf({3, 7, 22, 1}));
  // The same name with another file is another run.
  WriteRun("b", {3, 7, 22});
  ASSERT_TRUE(agent.Harvest());
  EXPECT_EQ(Sum(*agent.LocalRows()), HistogramOf({3, 7, 22, 1, 3, 7, 22}));
}

TEST_F(HarvestTest, ConcurrentHarvestsCountEachCallOnce) {
  OpenAgent(settings::Mode::kLocal);
  RunFileWriter living(RunPath("living"), Living());
  std::uint64_t calls = 0;
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < 8; ++i) {
      WriteRun("r" + std::to_string(i), {1, 2, 3});
      calls += 3;
    }
    living.Add(9);
    ++calls;
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([this] {
        Agent agent = OpenAgent();
        const auto report = agent.Harvest();
        EXPECT_TRUE(report) << report.error().message;
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(Sum(*OpenAgent().LocalRows()).count(), calls);
  }
}

TEST_F(HarvestTest, LockAloneKeepsARunAlive) {
  Agent agent = OpenAgent(settings::Mode::kLocal);
  WriteRun("a", {3});
  int ready[2];
  int done[2];
  ASSERT_EQ(::pipe(ready), 0);
  ASSERT_EQ(::pipe(done), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const int fd = ::open(RunPath("a").c_str(), O_RDWR);
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    char byte = ::fcntl(fd, F_SETLK, &lock) == 0 ? 'y' : 'n';
    if (::write(ready[1], &byte, 1) != 1) ::_exit(1);
    ::_exit(::read(done[0], &byte, 1) == 1 ? 0 : 1);
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  ASSERT_EQ(byte, 'y');
  const auto report = agent.Harvest();
  ASSERT_TRUE(report);
  EXPECT_EQ(report->files_left, 1U);
  EXPECT_EQ(report->calls, 1U);
  ASSERT_EQ(::write(done[1], &byte, 1), 1);
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(agent.Harvest()->files_finished, 1U);
}

TEST_F(HarvestTest, RefusedFilesAreSetAsideAndTheOthersCounted) {
  Agent agent = OpenAgent(settings::Mode::kLocal);
  WriteRun("a", {1});
  WriteRun("b", {2});
  WriteRun("c", {3});
  std::filesystem::resize_file(RunPath("b"), 5000);
  std::filesystem::create_symlink("/etc/passwd", RunPath("d"));
  const auto report = agent.Harvest();
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->files_refused, 2U);
  EXPECT_THAT(report->refused_reason, HasSubstr("5000 bytes"));
  EXPECT_TRUE(std::filesystem::exists(paths_.run_dir() / "refused" / "b.run"));
  EXPECT_TRUE(std::filesystem::is_symlink(paths_.run_dir() / "refused" / "d.run"));
  EXPECT_EQ(Sum(*agent.LocalRows()), HistogramOf({1, 3}));
  EXPECT_EQ(agent.GetStatus()->measuring.refused_files, 2U);
  // Only a few are kept.
  for (int i = 0; i < 40; ++i) {
    ASSERT_TRUE(WriteFileAtomically(RunPath("x" + std::to_string(i)), "garbage", 0600));
  }
  EXPECT_EQ(agent.Harvest()->files_refused, 40U);
  std::size_t kept = 0;
  for ([[maybe_unused]] const auto& entry :
       std::filesystem::directory_iterator(paths_.run_dir() / "refused")) {
    ++kept;
  }
  EXPECT_EQ(kept, 16U);
}

// A container that shares the user's home may have another /dev/shm; a session's memory directory
// ends with the session.
TEST_F(HarvestTest, AnAgentWithAnotherMemoryRootForgetsNoCounts) {
  Agent agent = OpenAgent(settings::Mode::kLocal);
  RunFileWriter file(RunPath("a"), Living());
  file.Add(1);
  EXPECT_EQ(agent.Harvest()->calls, 1U);
  EXPECT_EQ(agent.Harvest()->calls, 0U);
  {
    const testing::TempDir elsewhere(testing::kMemory);
    settings::AgentPaths other = paths_;
    other.memory_roots = {elsewhere.path()};
    auto stranger = Agent::Open(other, clock_);
    ASSERT_TRUE(stranger);
    ASSERT_TRUE(stranger->WritePolicy());
    for (std::uint64_t value : {10U, 20U}) {
      RunFileWriter(other.run_dir() / "b.run", Ended()).Add(value);
      EXPECT_EQ(stranger->Harvest()->calls, 1U);
    }
  }
  file.Add(2);
  EXPECT_EQ(agent.Harvest()->calls, 1U) << "only the new one";
  EXPECT_EQ(Sum(*agent.LocalRows()), HistogramOf({1, 2, 10, 20}));
}

TEST_F(HarvestTest, LostCallsAreReportedOnce) {
  Agent agent = OpenAgent(settings::Mode::kLocal);
  RunFileWriter file(RunPath("a"), Living());
  file.header().lost_calls = 5;
  ASSERT_TRUE(agent.Harvest());
  ASSERT_TRUE(agent.Harvest());
  file.header().lost_calls = 7;
  ASSERT_TRUE(agent.Harvest());
  EXPECT_EQ(agent.GetStatus()->measuring.lost_calls, 7U);
}

}  // namespace
}  // namespace fieldcost::volunteer
