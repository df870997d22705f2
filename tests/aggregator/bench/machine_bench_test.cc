#include "aggregator/bench/machine_bench.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <mutex>
#include <set>
#include <string>

#include "tests/support/temp_dir.h"

namespace fieldcost::bench {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

MachineOptions SmallIn(const std::filesystem::path& directory) {
  return {.directory = directory, .syncs = 2, .write_mib = 1, .agents = 1};
}

std::size_t EntriesIn(const std::filesystem::path& directory) {
  std::size_t entries = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    entries += entry.exists() ? 1 : 0;
  }
  return entries;
}

TEST(MachineBenchTest, MeasuresEveryStepAndLeavesTheDirectoryAsItWas) {
  const testing::TempDir dir;
  std::ofstream(dir.path() / "of the operator") << "kept";
  std::mutex mutex;
  std::set<std::string> steps;
  const auto report =
      MeasureMachine(SmallIn(dir.path()), SystemClock(),
                     [&](std::string_view step, std::uint64_t done, std::uint64_t total) {
                       EXPECT_LE(done, total);
                       const std::lock_guard lock(mutex);
                       steps.insert(std::string(step));
                       return true;
                     });
  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_THAT(steps, ElementsAre("MiB written", "agents' batches made", "batches acknowledged",
                                 "fdatasync", "fsync"));
  EXPECT_GT(report->fsync.p50_ms, 0);
  EXPECT_GT(report->fdatasync.p50_ms, 0);
  EXPECT_GT(report->write_mib_per_second, 0);
  EXPECT_EQ(report->ingest.batches + report->ingest.acknowledged, 8U);
  EXPECT_EQ(report->in_memory, IsInMemory(dir.path()).value());
  EXPECT_EQ(EntriesIn(dir.path()), 1U);
}

TEST(MachineBenchTest, RemovesItsFilesWhereverItIsStopped) {
  const testing::TempDir dir;
  for (const char* last :
       {"fsync", "fdatasync", "MiB written", "agents' batches made", "batches acknowledged"}) {
    const auto report = MeasureMachine(
        SmallIn(dir.path()), SystemClock(),
        [last](std::string_view step, std::uint64_t, std::uint64_t) { return step != last; });
    ASSERT_FALSE(report.has_value()) << last;
    EXPECT_EQ(report.error().code, ErrorCode::kUnavailable) << last;
    EXPECT_EQ(EntriesIn(dir.path()), 0U) << last;
  }
}

TEST(MachineBenchTest, RefusesADiskWithoutRoomBeforeItWrites) {
  const testing::TempDir dir;
  MachineOptions options = SmallIn(dir.path());
  options.write_mib = std::filesystem::space(dir.path()).capacity / kMiB + 1;
  EXPECT_GE(NeededRoom(options), options.write_mib * kMiB);
  const auto report = MeasureMachine(options, SystemClock(),
                                     [](std::string_view, std::uint64_t, std::uint64_t) -> bool {
                                       ADD_FAILURE() << "something is measured";
                                       return false;
                                     });
  ASSERT_FALSE(report.has_value());
  EXPECT_EQ(report.error().code, ErrorCode::kIo);
  EXPECT_THAT(report.error().message, HasSubstr("MiB are needed, and "));
  EXPECT_EQ(EntriesIn(dir.path()), 0U);
}

TEST(MachineBenchTest, NamesADirectoryThatDoesNotExist) {
  const testing::TempDir dir;
  const auto report = MeasureMachine(SmallIn(dir.path() / "nowhere"), SystemClock());
  ASSERT_FALSE(report.has_value());
  EXPECT_EQ(report.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(report.error().message, HasSubstr("nowhere"));
}

MachineReport Typical() {
  MachineReport report{.fsync = {.p50_ms = 0.7, .p99_ms = 1.2, .p999_ms = 4.5},
                       .fdatasync = {.p50_ms = 0.63, .p99_ms = 1.02, .p999_ms = 3.4},
                       .write_mib_per_second = 512};
  report.ingest = {.batches = 1000,
                   .bucket_adds = 6'400'000,
                   .seconds = 2.5,
                   .cpu_seconds = 2.4,
                   .offered_per_second = 200,
                   .acknowledged = 1000,
                   .ack = {.p50_ms = 4, .p99_ms = 9.5, .p999_ms = 20}};
  return report;
}

TEST(MachineBenchTest, TheVerdictFollowsFromTheFigures) {
  const Verdict verdict = Judge(Typical());
  // 400 batches per second, at half load, with a handshake each.
  EXPECT_EQ(verdict.agents_per_hour, 504'000U);
  EXPECT_TRUE(verdict.is_limited_by_cpu);
  EXPECT_TRUE(verdict.is_durable);
  EXPECT_THAT(
      verdict.sentences,
      ElementsAre(
          "A sync of 128 KiB takes 0.63 ms in the median, 1.02 ms at most in 99 %, 3.40 ms in 99.9 "
          "% "
          "(fdatasync; with fsync 0.70 ms in the median).",
          "Sequential writing: 512 MiB per second.",
          "One core adds 2.56 million buckets per second durably: 400 batches of 128 KiB.",
          "At half of this load, an acknowledgement takes 4.00 ms in the median, 9.50 ms at most "
          "in "
          "99 %, 20.00 ms in 99.9 %.",
          "So one core serves about 504,000 agents per hour that send one full batch each: at half "
          "of its peak, with a TLS handshake for every batch.",
          "The CPU is the limit (96 % of the core); more cores serve more agents."));
}

TEST(MachineBenchTest, TheVerdictNamesADiskThatIsTooSlow) {
  MachineReport report = Typical();
  report.ingest.cpu_seconds = 1.9;
  const Verdict verdict = Judge(report);
  EXPECT_FALSE(verdict.is_limited_by_cpu);
  EXPECT_EQ(verdict.sentences.back(),
            "The disk is the limit, unless other programs use the core, too (76 % of it is used "
            "here); a disk with faster syncs serves more agents.");
  report.ingest.cpu_seconds = kCpuLimitShare * report.ingest.seconds;
  EXPECT_TRUE(Judge(report).is_limited_by_cpu);
}

TEST(MachineBenchTest, TheVerdictDoubtsSyncsThatCannotReachADisk) {
  MachineReport report = Typical();
  report.fdatasync.p50_ms = kSuspiciousSyncMs;
  EXPECT_THAT(Judge(report).sentences, Not(Contains(HasSubstr("cache"))));
  report.fdatasync.p50_ms = 0.049;
  EXPECT_THAT(Judge(report).sentences, Contains(HasSubstr("the disk's cache survives")));
  report.in_memory = true;
  const Verdict verdict = Judge(report);
  EXPECT_FALSE(verdict.is_durable);
  EXPECT_THAT(verdict.sentences.back(), HasSubstr("in memory: nothing here is durable"));
  EXPECT_THAT(verdict.sentences, Not(Contains(HasSubstr("the disk's cache"))));
}

}  // namespace
}  // namespace fieldcost::bench
