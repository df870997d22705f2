#include "agent/trace/wait_tracker.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>

namespace fieldcost::trace {
namespace {

using Waits = WaitTracker<std::string>;

constexpr perf::SwitchRecord kOut{.pid = 1, .tid = 2, .out = true, .preempted = false};
constexpr perf::SwitchRecord kPreempted{.pid = 1, .tid = 2, .out = true, .preempted = true};
constexpr perf::SwitchRecord kIn{.pid = 1, .tid = 2, .out = false, .preempted = false};

Waits::Reader ReadsAt(std::uint64_t time, int& reads) {
  return [time, &reads](pid_t, pid_t) {
    ++reads;
    return Waits::Read{.stack = "stack", .time_ns = time};
  };
}

TEST(WaitTrackerTest, AWaitIsFromTheSwitchOutToTheSwitchIn) {
  Waits waits;
  EXPECT_FALSE(waits.Switch(kIn, 100).has_value()) << "a thread that begins did not wait";
  EXPECT_FALSE(waits.Switch(kOut, 200).has_value());
  const auto wait = waits.Switch(kIn, 350);
  ASSERT_TRUE(wait.has_value());
  EXPECT_EQ(wait->pid, 1);
  EXPECT_EQ(wait->tid, 2);
  EXPECT_EQ(wait->end_ns, 350U);
  EXPECT_EQ(wait->length_ns(), 150U);
  EXPECT_FALSE(wait->preempted);
  EXPECT_FALSE(wait->stack.has_value());
  EXPECT_FALSE(waits.Switch(kPreempted, 400).has_value());
  EXPECT_TRUE(waits.Switch(kIn, 410)->preempted);
}

TEST(WaitTrackerTest, RecordsThatComeTheWrongWayRoundAreOneWait) {
  Waits waits;
  EXPECT_FALSE(waits.Switch(kIn, 350).has_value());
  const auto wait = waits.Switch(kOut, 200);
  ASSERT_TRUE(wait.has_value());
  EXPECT_EQ(wait->length_ns(), 150U);
  EXPECT_TRUE(waits.EndAll(1000).empty());
}

// Parts taken while waits pass, and the rest taken at their ends, in any order.
TEST(WaitTrackerTest, PartsOfWaitsAreTogetherAsLongAsTheWaitsAndDoNotOverlap) {
  std::mt19937_64 random(5);
  for (int run = 0; run < 200; ++run) {
    Waits waits;
    std::uint64_t now = 1'000;
    std::uint64_t waited = 0;
    std::uint64_t out_since = 0;  // 0: running
    std::uint64_t told = 0;
    std::uint64_t told_until = 0;
    std::size_t over = 0;
    std::size_t ended = 0;
    const auto tell = [&](const Waits::Wait& part) {
      EXPECT_GE(part.begin_ns, told_until);
      told_until = part.end_ns;
      told += part.length_ns();
      over += part.is_over ? 1U : 0U;
    };
    for (int i = 0; i < 100; ++i) {
      now += random() % 50;
      switch (random() % 3) {
        case 0:
          if (out_since == 0) {
            waits.Switch(kOut, out_since = now);
          } else {
            waited += now - std::exchange(out_since, 0);
            ++ended;
            tell(waits.Switch(kIn, now).value());
          }
          break;
        case 1:
          for (const auto& part : waits.TakePassed(now, random() % 40)) tell(part);
          break;
        default:
          break;
      }
    }
    for (const auto& part : waits.EndAll(now)) tell(part);
    if (out_since != 0) {
      waited += now - out_since;
      ++ended;
    }
    EXPECT_EQ(told, waited) << run;
    EXPECT_EQ(over, ended) << run;
  }
}

TEST(WaitTrackerTest, AWaitThatEndedBeforeWhatWasTakenOfItGivesNoTimeTwice) {
  Waits waits;
  waits.Switch(kOut, 200);
  ASSERT_EQ(waits.TakePassed(1'000, 500).size(), 1U);
  EXPECT_EQ(waits.Switch(kIn, 990)->length_ns(), 0U);
  waits.Switch(kOut, 995);
  EXPECT_EQ(waits.Switch(kIn, 1'100)->begin_ns, 1'000U);
}

TEST(WaitTrackerTest, PartsHaveTheStackThatWasReadBeforeTheirEnds) {
  Waits waits;
  int reads = 0;
  waits.Switch(kOut, 200);
  EXPECT_FALSE(waits.TakePassed(300, 100).front().stack.has_value());
  waits.ReadStacks(300, 9, ReadsAt(350, reads));
  const auto parts = waits.TakePassed(500, 100);
  ASSERT_EQ(parts.size(), 1U);
  EXPECT_EQ(parts[0].stack, "stack");
  EXPECT_EQ(parts[0].since_ns, 200U);
  EXPECT_EQ(parts[0].whole_ns(), 300U);
  EXPECT_TRUE(waits.TakePassed(550, 100).empty()) << "less than that has passed";
  EXPECT_EQ(waits.Switch(kIn, 600)->stack, "stack");
}

TEST(WaitTrackerTest, AStackThatIsNotThereIsAskedForAFewTimes) {
  Waits waits;
  int reads = 0;
  const auto none = [&reads](pid_t, pid_t) -> std::optional<Waits::Read> {
    ++reads;
    return std::nullopt;
  };
  waits.Switch(kOut, 200);
  waits.ReadStacks(300, 9, none);
  waits.ReadStacks(300, 9, ReadsAt(350, reads));
  EXPECT_EQ(reads, 2);
  EXPECT_EQ(waits.Switch(kIn, 400)->stack, "stack");
  waits.Switch(kOut, 500);
  for (int i = 0; i < 2 * Waits::kMostTries; ++i) waits.ReadStacks(600, 9, none);
  EXPECT_EQ(reads, 2 + Waits::kMostTries);
}

TEST(WaitTrackerTest, ReadsAStackOnceAndOnlyAfterALongWait) {
  Waits waits;
  int reads = 0;
  waits.Switch(kOut, 200);
  waits.ReadStacks(199, 9, ReadsAt(250, reads));
  EXPECT_EQ(reads, 0);
  waits.ReadStacks(200, 9, ReadsAt(250, reads));
  waits.ReadStacks(300, 9, ReadsAt(350, reads));
  EXPECT_EQ(reads, 1);
  EXPECT_EQ(waits.Switch(kIn, 400)->stack, "stack");
  waits.Switch(kOut, 500);
  EXPECT_FALSE(waits.Switch(kIn, 600)->stack.has_value()) << "that was another wait's";
  waits.Switch(kPreempted, 700);
  waits.ReadStacks(800, 9, ReadsAt(850, reads));
  EXPECT_EQ(reads, 1);
}

TEST(WaitTrackerTest, RejectsAStackReadAfterTheThreadResumed) {
  Waits waits;
  int reads = 0;
  waits.Switch(kOut, 200);
  waits.ReadStacks(300, 9, ReadsAt(401, reads));
  EXPECT_FALSE(waits.Switch(kIn, 400)->stack.has_value());
}

TEST(WaitTrackerTest, UnfinishedWaitsEndAtTheEnd) {
  Waits waits;
  waits.WaitsSince(1, 2, 100);
  waits.WaitsSince(1, 3, 100);
  waits.Exit(3);
  const auto ended = waits.EndAll(500);
  ASSERT_EQ(ended.size(), 1U);
  EXPECT_EQ(ended[0].tid, 2);
  EXPECT_EQ(ended[0].length_ns(), 400U);
  EXPECT_TRUE(waits.EndAll(600).empty());
}

TEST(WaitTrackerTest, ReadingReturnsSinceWhenTheFirstWaitsThatIsTooYoung) {
  Waits waits;
  int reads = 0;
  EXPECT_FALSE(waits.ReadStacks(200, 9, ReadsAt(250, reads)).has_value());
  waits.WaitsSince(1, 2, 100);
  waits.WaitsSince(1, 3, 300);
  waits.WaitsSince(1, 4, 280);
  EXPECT_EQ(waits.ReadStacks(200, 9, ReadsAt(250, reads)), 280U);
  EXPECT_EQ(waits.ReadStacks(290, 9, ReadsAt(295, reads)), 300U);
  EXPECT_FALSE(waits.ReadStacks(300, 9, ReadsAt(350, reads)).has_value());
  EXPECT_EQ(reads, 3);
}

TEST(WaitTrackerTest, NoMoreStacksThanAsked) {
  Waits waits;
  for (pid_t tid = 1; tid <= 5; ++tid) waits.WaitsSince(1, tid, 100);
  int reads = 0;
  waits.ReadStacks(200, 3, ReadsAt(250, reads));
  EXPECT_EQ(reads, 3);
  waits.ReadStacks(200, 3, ReadsAt(250, reads));
  EXPECT_EQ(reads, 5);
}

}  // namespace
}  // namespace fieldcost::trace
