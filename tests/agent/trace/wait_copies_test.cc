#include "agent/trace/wait_copies.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace fieldcost::trace {
namespace {

constexpr pid_t kProcess = 7;

class WaitCopiesTest : public ::testing::Test {
 protected:
  static perf::SwitchRecord Out(pid_t tid) { return {.pid = kProcess, .tid = tid, .out = true}; }
  static perf::SwitchRecord In(pid_t tid) { return {.pid = kProcess, .tid = tid}; }

  std::uint64_t now_ = 1'000;
  std::size_t bytes_ = 100;
  bool waits_ = true;
  std::vector<pid_t> copied_;
  WaitCopies copies_{[this](pid_t, pid_t tid) -> std::optional<perf::WaitCopy> {
                       copied_.push_back(tid);
                       if (!waits_) return std::nullopt;
                       return perf::WaitCopy{.place = {},
                                             .bytes = std::vector<std::uint8_t>(bytes_)};
                     },
                     [this] { return now_; }};
};

TEST_F(WaitCopiesTest, OnlyLongWaitsAreCopiedAndOnce) {
  copies_.Follow(Out(1), 100);
  copies_.Follow(Out(2), 950);
  copies_.Follow({.pid = kProcess, .tid = 3, .out = true, .preempted = true}, 100);
  copies_.Look(500);
  copies_.Look(500);
  EXPECT_EQ(copied_, std::vector<pid_t>{1});
  EXPECT_FALSE(copies_.Take(2, 950));
  const auto copy = copies_.Take(1, 100);
  ASSERT_TRUE(copy);
  EXPECT_EQ(copy->time_ns, 1'000U);
  EXPECT_TRUE(copies_.empty());
  EXPECT_EQ(copies_.bytes(), 0U);
}

TEST_F(WaitCopiesTest, OlderRecordsOfAThreadDoNotCount) {
  copies_.Follow(Out(1), 100);
  copies_.Follow(In(1), 90);
  copies_.Look(500);
  EXPECT_EQ(copied_.size(), 1U);
  copies_.Follow(In(1), 200);
  copies_.Follow(Out(1), 100);
  copies_.Look(500);
  EXPECT_EQ(copied_.size(), 1U) << "it runs";
}

TEST_F(WaitCopiesTest, ACopyBelongsToOneWaitAndEarlierOnesAreForgotten) {
  copies_.Follow(Out(1), 100);
  copies_.Look(500);
  copies_.Follow(In(1), 1'100);
  copies_.Follow(Out(1), 1'200);
  now_ = 2'000;
  copies_.Look(500);
  EXPECT_FALSE(copies_.Take(1, 1'199));
  EXPECT_EQ(copies_.bytes(), 100U);
  EXPECT_TRUE(copies_.Take(1, 1'200));
  EXPECT_FALSE(copies_.Take(1, 1'200));
}

TEST_F(WaitCopiesTest, AThreadThatCannotBeReadIsNotTriedForever) {
  waits_ = false;
  copies_.Follow(Out(1), 100);
  for (int i = 0; i < 10; ++i) copies_.Look(500);
  EXPECT_EQ(copied_.size(), static_cast<std::size_t>(WaitCopies::kMostTries));
  EXPECT_TRUE(copies_.empty());
}

TEST_F(WaitCopiesTest, MemoryIsBoundedAndFreed) {
  bytes_ = WaitCopies::kMostStackBytes;
  constexpr pid_t kThreads = 1'000;
  for (pid_t tid = 1; tid <= kThreads; ++tid) copies_.Follow(Out(tid), 100);
  copies_.Look(500);
  EXPECT_EQ(copies_.bytes(), WaitCopies::kMostBytes);
  for (pid_t tid = 1; tid <= kThreads; ++tid) copies_.Exit(tid, 200);
  EXPECT_EQ(copies_.bytes(), 0U);
  copies_.Look(500);
  EXPECT_EQ(copied_.size(), WaitCopies::kMostBytes / WaitCopies::kMostStackBytes)
      << "threads that have ended are not read";
}

}  // namespace
}  // namespace fieldcost::trace
