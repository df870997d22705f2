#include "agent/sampler/wait_tracker.h"

#include <gtest/gtest.h>

#include <string>

namespace fieldcost::sampler {
namespace {

using Waits = WaitTracker<std::string>;

constexpr SwitchRecord kOut{.pid = 1, .tid = 2, .out = true, .preempted = false};
constexpr SwitchRecord kPreempted{.pid = 1, .tid = 2, .out = true, .preempted = true};
constexpr SwitchRecord kIn{.pid = 1, .tid = 2, .out = false, .preempted = false};

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

TEST(WaitTrackerTest, AStackIsReadOnceAndOnlyOfWhoWaitsLong) {
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

TEST(WaitTrackerTest, AStackThatWasReadWhenTheThreadWentOnIsNone) {
  Waits waits;
  int reads = 0;
  waits.Switch(kOut, 200);
  waits.ReadStacks(300, 9, ReadsAt(401, reads));
  EXPECT_FALSE(waits.Switch(kIn, 400)->stack.has_value());
}

TEST(WaitTrackerTest, WaitsThatGoOnEndAtTheEnd) {
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
}  // namespace fieldcost::sampler
