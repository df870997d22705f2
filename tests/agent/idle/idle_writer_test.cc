#include "agent/idle/idle_writer.h"

#include <gtest/gtest.h>

#include <numeric>

#include "common/base/clock.h"
#include "tests/agent/idle/recorded_idle.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::idle_agent {
namespace {

using idle::testing::RecordedIdle;

constexpr std::uint64_t kMs = 1'000'000;

class IdleWriterTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto writer = IdleWriter::Create(file_, {.about = {.tick_ns = 10 * kMs, .why = "a test"}});
    ASSERT_TRUE(writer) << writer.error().message;
    writer_.emplace(std::move(*writer));
    ASSERT_TRUE(writer_->BeginRun("app"));
    // A full second slightly in the future, so that ticks have known positions.
    begin_ns_ = (MonotonicNs() / (1000 * kMs) + 1) * 1000 * kMs;
  }

  // A stack of code without files, innermost frame last.
  StackId Stack(const std::vector<std::uint64_t>& addresses, idle::Why why) {
    std::vector<perf::SampledFrame> frames;
    for (const std::uint64_t address : addresses)
      frames.insert(frames.begin(), perf::SampledFrame{.module = 0, .address = address});
    const auto id =
        writer_->AddStack(frames, unwind::StackEnd::kOutermost, why, {perf::SampledModule()});
    EXPECT_TRUE(id);
    return *id;
  }
  void Idles(std::uint32_t cpu, std::uint64_t from_ms, std::uint64_t to_ms,
             std::optional<StackId> to, idle::Why why = idle::Why::kNotMonitored) {
    ASSERT_TRUE(writer_->Take({.cpu = cpu,
                               .begin_ns = begin_ns_ + from_ms * kMs,
                               .end_ns = begin_ns_ + to_ms * kMs,
                               .to = to,
                               .why = why}));
  }
  RecordedIdle Recorded() {
    EXPECT_TRUE(writer_->EndRun(0));
    EXPECT_TRUE(writer_->Close());
    return RecordedIdle(file_);
  }

  testing::TempDir directory_;
  std::filesystem::path file_ = directory_.path() / "a.fct";
  std::optional<IdleWriter> writer_;
  std::uint64_t begin_ns_ = 0;
};

TEST_F(IdleWriterTest, TheExampleOfTheReadme) {
  const StackId wait = Stack({0x10, 0x20}, idle::Why::kLock);
  const StackId hold = Stack({0x10, 0x30}, idle::Why::kSleep);
  Idles(1, 8, 31, wait);
  ASSERT_TRUE(writer_->GoesOn(1, hold, {.special = idle::kInterrupt}));
  const RecordedIdle recorded = Recorded();
  EXPECT_EQ(recorded.Sum(idle::kToIdle, {"[lock]"}), 23 * kMs);
  EXPECT_EQ(recorded.Sum(idle::kToIdleTicks, {"[lock]"}), 3U);
  EXPECT_EQ(recorded.Sum(idle::kFromIdle, {"[sleep]"}), 23 * kMs);
  EXPECT_EQ(recorded.Sum(idle::kFromIdleTicks, {"[sleep]"}), 3U);
  EXPECT_EQ(
      recorded.Sum(idle::kPairs, {"[lock]", "[until]", "[sleep]", "[woken by]", "[interrupt]"}),
      23 * kMs);
  EXPECT_EQ(recorded.Sum(idle::kPairTicks), 3U);
  EXPECT_EQ(recorded.Sum(idle::kCpuIdle, {"[CPU 1]", "[lock]"}), 23 * kMs);
  for (const char* const metric : {idle::kToIdle, idle::kFromIdle, idle::kPairs, idle::kCpuIdle})
    EXPECT_EQ(recorded.Sum(metric), 23 * kMs) << metric;
  const auto& streams = recorded.recording().contents().descriptions.streams;
  const auto about = idle::ParseAbout(streams.at(3).name);
  ASSERT_TRUE(about);
  EXPECT_EQ(about->why, "a test");
}

TEST_F(IdleWriterTest, WritesEqualStacksOnce) {
  EXPECT_EQ(Stack({1, 2}, idle::Why::kLock), Stack({1, 2}, idle::Why::kLock));
  EXPECT_NE(Stack({1, 2}, idle::Why::kLock), Stack({1, 2}, idle::Why::kIo));
  EXPECT_NE(Stack({1, 2}, idle::Why::kLock), Stack({2}, idle::Why::kLock));
}

TEST_F(IdleWriterTest, UnexplainedIdleTimeIsOnlyInTheCpusSum) {
  Idles(0, 0, 5, std::nullopt);
  Idles(0, 5, 12, std::nullopt, idle::Why::kMovedAway);
  Idles(0, 12, 14, std::nullopt, idle::Why::kLost);
  Idles(0, 14, 40, Stack({1}, idle::Why::kIo));
  EXPECT_EQ(writer_->idle_ns(), 40 * kMs);
  EXPECT_EQ(writer_->explained_ns(), 26 * kMs);
  const RecordedIdle recorded = Recorded();
  EXPECT_EQ(recorded.Sum(idle::kCpuIdle), 40 * kMs);
  EXPECT_EQ(recorded.Sum(idle::kCpuIdle, {"[not monitored]"}), 5 * kMs);
  EXPECT_EQ(recorded.Sum(idle::kCpuIdle, {"[moved away]"}), 7 * kMs);
  EXPECT_EQ(recorded.Sum(idle::kCpuIdle, {"[lost]"}), 2 * kMs);
  EXPECT_EQ(recorded.Sum(idle::kToIdle), 26 * kMs);
  EXPECT_EQ(recorded.Sum(idle::kPairs), 26 * kMs);
}

TEST_F(IdleWriterTest, AResumingThreadEndsAllIdlePeriodsOfItsCpu) {
  const StackId to = Stack({1}, idle::Why::kSleep);
  const StackId from = Stack({2}, idle::Why::kLock);
  Idles(0, 0, 3, to);
  Idles(1, 0, 100, to);
  Idles(0, 4, 9, to);
  ASSERT_TRUE(writer_->GoesOn(0, from, {}));
  ASSERT_TRUE(writer_->GoesOn(0, from, {}));  // no idle time since
  const RecordedIdle recorded = Recorded();
  EXPECT_EQ(recorded.Sum(idle::kFromIdle), 8 * kMs);
  EXPECT_EQ(recorded.Sum(idle::kPairs, {"[until]", "[lock]"}), 8 * kMs);
  EXPECT_EQ(recorded.Sum(idle::kPairs, {"[until]", "[nobody]"}), 100 * kMs);
}

TEST_F(IdleWriterTest, AllStreamsHaveTheSameOfALongPeriodInEachPartOfItsTime) {
  constexpr std::uint64_t kLongMs = 40'000;
  Idles(0, 20, 20 + kLongMs, Stack({1}, idle::Why::kIo));
  ASSERT_TRUE(writer_->GoesOn(0, Stack({2}, idle::Why::kSleep), {}));
  const RecordedIdle recorded = Recorded();
  const recording::Recording& recording = recorded.recording();
  const std::uint64_t end_ns = recording.Span().value().to_ns - 1;
  const std::uint64_t begin_ns = end_ns - kLongMs * kMs;
  EXPECT_EQ(recording.Span().value().from_ns, begin_ns);
  // Before it, its first ms, 30 s in its middle, and the rest.
  const std::uint64_t edges[] = {0, begin_ns, begin_ns + kMs, begin_ns + 30'001 * kMs, UINT64_MAX};
  const std::uint64_t expected_ms[] = {0, 1, 30'000, kLongMs - 30'001};
  for (std::uint16_t stream = 0; stream < 4; ++stream) {
    for (std::size_t i = 0; i < std::size(expected_ms); ++i) {
      std::vector<std::uint64_t> values;
      ASSERT_TRUE(
          recording.SelfValues(recording::StreamId{stream}, 0, {edges[i], edges[i + 1]}, values));
      EXPECT_EQ(std::accumulate(values.begin(), values.end(), std::uint64_t{0}),
                expected_ms[i] * kMs)
          << stream << " " << i;
    }
  }
}

TEST_F(IdleWriterTest, IgnoresIdleTimeBeforeTheRun) {
  ASSERT_TRUE(writer_->Take({.cpu = 0, .begin_ns = 1, .end_ns = 2}));
  ASSERT_TRUE(writer_->Take({.cpu = 0, .begin_ns = 3, .end_ns = begin_ns_}));
  const std::uint64_t idle_ns = writer_->idle_ns();
  const RecordedIdle recorded = Recorded();
  const recording::Run& run = recorded.recording().contents().descriptions.runs.at(0);
  EXPECT_EQ(recorded.recording().Span().value().from_ns, run.begin_ns);
  EXPECT_EQ(recorded.Sum(idle::kCpuIdle), idle_ns);
}

TEST_F(IdleWriterTest, DeepStacksKeepTheirInnermostFrames) {
  std::vector<std::uint64_t> addresses;
  for (std::uint64_t i = 1; i <= 1000; ++i) addresses.push_back(i);
  Idles(0, 0, 1, Stack(addresses, idle::Why::kLock));
  const RecordedIdle recorded = Recorded();
  recorded.ForEach(idle::kToIdle, [](const idle::testing::Frames& frames, std::uint64_t /*value*/) {
    ASSERT_EQ(frames.size(), idle::kPartFrames + 2);
    EXPECT_EQ(frames.front().function, tree::kCut);
    EXPECT_EQ(frames[idle::kPartFrames].offset, 1000U);
    EXPECT_EQ(frames.back().function, "[lock]");
  });
}

TEST_F(IdleWriterTest, WritesUnfinishedPairsOutOnceThereAreMany) {
  const StackId to = Stack({1}, idle::Why::kSleep);
  constexpr std::uint64_t kPeriods = 70'000;
  for (std::uint64_t i = 0; i < kPeriods; ++i) {
    ASSERT_TRUE(writer_->Take(
        {.cpu = 0, .begin_ns = begin_ns_ + 2 * i, .end_ns = begin_ns_ + 2 * i + 1, .to = to}));
  }
  EXPECT_EQ(Recorded().Sum(idle::kPairs), kPeriods);
}

}  // namespace
}  // namespace fieldcost::idle_agent
