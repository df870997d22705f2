#include "agent/idle/idle_account.h"

#include <gtest/gtest.h>

#include <string>

namespace fieldcost::idle_agent {
namespace {

constexpr std::uint64_t kTick = 1000;
constexpr pid_t kPid = 100;

// Observes ticks of 1000 ns and returns the reports as text.
class IdleAccountTest : public ::testing::Test {
 protected:
  void In(std::uint32_t cpu, pid_t tid, std::uint64_t time) { account_.In(cpu, kPid, tid, time); }
  void Out(std::uint32_t cpu, pid_t tid, std::uint64_t time, bool preempted = false) {
    account_.Out(cpu, kPid, tid, time, preempted);
  }
  // Observes each tick in (from, to].
  void Looks(std::uint32_t cpu, std::uint64_t from, std::uint64_t to, bool idle = true) {
    for (std::uint64_t end = from + kTick; end <= to; end += kTick)
      account_.Look(cpu, {.begin_ns = end - kTick, .end_ns = end, .idle = idle});
  }
  // Reads all requested stacks; a thread's stack is its number.
  std::string ReadAll(std::uint64_t time) {
    std::string tids;
    for (const WaitPointer& wait : account_.ToRead()) {
      account_.Read(*wait, time, StackId{static_cast<std::uint32_t>(wait->tid)});
      tids += std::to_string(wait->tid) + " ";
    }
    return tids;
  }
  // Reading fails for all requested threads.
  std::string TextOfRefusal(std::uint64_t time) {
    std::string tids;
    for (const WaitPointer& wait : account_.ToRead()) {
      account_.Read(*wait, time, std::nullopt);
      tids += std::to_string(wait->tid) + " ";
    }
    return tids;
  }
  static std::string TextOf(const std::vector<IdleAccount::Told>& all) {
    std::string text;
    for (const IdleAccount::Told& told : all) {
      text += std::to_string(told.cpu) + (told.goes_on ? " on " : " idle ");
      if (!told.goes_on)
        text += std::to_string(told.begin_ns) + "-" + std::to_string(told.end_ns) + " ";
      text += NameOf(told) + "; ";
    }
    return text;
  }
  std::string Tell(std::uint64_t until) { return TextOf(account_.Tell(until)); }
  std::string TellRest() { return TextOf(account_.TellRest()); }

  IdleAccount account_{kTick};

 private:
  static std::string NameOf(const IdleAccount::Told& told) {
    if (told.wait == nullptr) return FrameName(told.why);
    if (told.wait->ended) return "ended";
    if (told.wait->begins) return "new";
    if (told.wait->preempted) return "preempted";
    if (told.wait->state != ThreadWait::Stack::kKnown) return "no stack";
    return std::to_string(told.wait->stack->value());
  }
};

TEST_F(IdleAccountTest, RecordsTheThreadBeforeAndTheThreadAfterEachIdlePeriod) {
  In(0, 1, 100);
  Out(0, 1, 900);
  In(0, 2, 900);
  Out(0, 2, 1500);
  Looks(0, 0, 1000, false);
  Looks(0, 1000, 5000);
  EXPECT_EQ(ReadAll(5100), "2 1 ");
  In(0, 1, 5500);
  Looks(0, 5000, 6000, false);
  EXPECT_EQ(Tell(6000), "0 idle 1000-5000 2; 0 on 1; ");
  EXPECT_EQ(TellRest(), "");
}

TEST_F(IdleAccountTest, IdleTimeBeforeTheFirstMonitoredThreadIsNotMonitored) {
  Looks(3, 0, 2000);
  In(3, 1, 2500);
  Looks(3, 2000, 3000, false);
  EXPECT_EQ(Tell(3000), "3 idle 0-2000 [not monitored]; 3 on new; ");
}

TEST_F(IdleAccountTest, AThreadThatRunsElsewhereNoLongerExplainsTheCpu) {
  In(0, 1, 0);
  Out(0, 1, 1000);
  Looks(0, 1000, 3000);
  EXPECT_EQ(ReadAll(3100), "1 ");
  In(1, 1, 3200);
  Looks(0, 3000, 5000);
  In(0, 2, 5500);
  Looks(0, 5000, 6000, false);
  EXPECT_EQ(Tell(6000), "0 idle 1000-3000 1; 0 idle 3000-5000 [moved away]; 0 on new; ");
}

TEST_F(IdleAccountTest, IgnoresStacksThatWereReadTooLate) {
  In(0, 1, 0);
  Out(0, 1, 1000);
  Looks(0, 1000, 3000);
  EXPECT_EQ(ReadAll(3100), "1 ");
  EXPECT_EQ(Tell(3050), "");  // it may have resumed by then
  In(0, 1, 3080);
  Looks(0, 3000, 4000, false);
  EXPECT_EQ(Tell(4000), "0 idle 1000-3000 no stack; 0 on no stack; ");
}

TEST_F(IdleAccountTest, AcceptsAStackOnceTheThreadIsKnownToHaveWaited) {
  In(0, 1, 0);
  Out(0, 1, 1000);
  Looks(0, 1000, 3000);
  EXPECT_EQ(Tell(3000), "");
  ReadAll(3100);
  In(0, 2, 3200);
  Looks(0, 3000, 4000, false);
  EXPECT_EQ(Tell(3050), "");
  EXPECT_EQ(Tell(4000), "0 idle 1000-3000 1; 0 on new; ");
}

TEST_F(IdleAccountTest, ReadsEachWaitOnceAndAtMostSixtyFourOfTheLatest) {
  for (pid_t tid = 1; tid <= 100; ++tid) {
    In(0, tid, static_cast<std::uint64_t>(tid) * 2);
    Out(0, tid, static_cast<std::uint64_t>(tid) * 2 + 1);
  }
  Looks(0, 1000, 2000);
  const std::string read = ReadAll(2000);
  EXPECT_TRUE(read.starts_with("100 99 98 ")) << read;
  EXPECT_TRUE(read.ends_with(" 38 37 ")) << read;
  Looks(0, 2000, 3000);
  EXPECT_EQ(ReadAll(3000), "");
}

TEST_F(IdleAccountTest, RetriesAFailedStackOnlyIfTheThreadLeavesACpuIdle) {
  In(0, 1, 0);
  Out(0, 1, 100);
  In(0, 2, 100);
  Out(0, 2, 200);
  for (const WaitPointer& wait : account_.ToRead()) account_.Read(*wait, 300, std::nullopt);
  constexpr std::uint64_t kLater = 1'000'000'000;
  In(0, 1, kLater);
  Out(0, 1, kLater + 100);
  In(0, 3, kLater + 100);
  Out(0, 3, kLater + 200);
  EXPECT_EQ(ReadAll(kLater + 300), "3 ");
  In(0, 1, kLater + 300);
  Out(0, 1, kLater + 400);
  Looks(0, kLater + kTick, kLater + 2 * kTick);
  EXPECT_EQ(ReadAll(kLater + 2 * kTick), "1 ");
}

TEST_F(IdleAccountTest, RetriesAFailedStackIfTheThreadHadRunOrBeenWoken) {
  In(0, 1, 0);
  Out(0, 1, 100);
  for (const WaitPointer& wait : account_.ToRead()) account_.Read(*wait, 300, std::nullopt);
  In(0, 1, 250);
  Out(0, 1, 500);
  EXPECT_EQ(TextOfRefusal(700), "1 ");
  In(0, 1, 800);
  Out(0, 1, 900);
  EXPECT_EQ(ReadAll(1000), "1 ");
}

TEST_F(IdleAccountTest, ALateObservationCoversTheLongestGapBetweenThreads) {
  In(0, 1, 0);
  Out(0, 1, 1100);
  account_.ToRead();
  In(0, 2, 1900);
  Out(0, 2, 9000);
  In(0, 1, 9100);
  account_.Look(0, {.begin_ns = 1000, .end_ns = 9050, .idle = true});
  // The stack of thread 1 was not read in time.
  EXPECT_EQ(Tell(9100), "0 idle 0-1000 no stack; 0 on new; ");
}

TEST_F(IdleAccountTest, ReportsEachTickOfACpuOnce) {
  account_.Look(0, {.begin_ns = 0, .end_ns = 1100, .idle = true});
  account_.Look(0, {.begin_ns = 1100, .end_ns = 1900, .idle = true});
  account_.Look(0, {.begin_ns = 1900, .end_ns = 5000, .idle = true});
  EXPECT_EQ(TellRest(), "0 idle 0-2000 [not monitored]; 0 idle 4000-5000 [not monitored]; ");
}

TEST_F(IdleAccountTest, ReportsLongIdlePeriodsInParts) {
  Looks(0, 0, 120'000);
  EXPECT_EQ(Tell(120'000), "0 idle 0-50000 [not monitored]; 0 idle 50000-100000 [not monitored]; ");
  EXPECT_EQ(TellRest(), "0 idle 100000-120000 [not monitored]; ");
}

TEST_F(IdleAccountTest, EndedAndPreemptedThreadsHaveNoStack) {
  In(0, 1, 0);
  account_.Exit(0, 1, 1000);
  Looks(0, 1000, 2000);
  In(0, 2, 2100);
  Out(0, 2, 3000, true);
  Looks(0, 2000, 3000, false);
  Looks(0, 3000, 4000);
  EXPECT_EQ(ReadAll(4000), "");
  EXPECT_EQ(TellRest(), "0 idle 1000-2000 ended; 0 on new; 0 idle 3000-4000 preempted; ");
}

TEST_F(IdleAccountTest, AfterLostRecordsTheLastThreadIsUnknown) {
  In(0, 1, 0);
  Out(0, 1, 1000);
  account_.Lost(0, 1500);
  Looks(0, 1500, 3500);
  Looks(1, 1500, 3500);
  EXPECT_EQ(TellRest(), "0 idle 1000-3000 [lost]; 1 idle 1000-3000 [not monitored]; ");
}

TEST_F(IdleAccountTest, ReportsThreadsThatWaitedBeforeTheFirstObservation) {
  account_.Waits(kPid, 7);
  Looks(0, 0, 1000);
  EXPECT_EQ(ReadAll(1000), "7 ");
  In(0, 7, 1500);
  Looks(0, 1000, 2000, false);
  EXPECT_EQ(Tell(2000), "0 idle 0-1000 [not monitored]; 0 on 7; ");
}

TEST_F(IdleAccountTest, LastOnReturnsTheLastThreadWhileItWaits) {
  EXPECT_EQ(account_.LastOn(0), nullptr);
  In(0, 1, 0);
  EXPECT_EQ(account_.LastOn(0), nullptr);
  Out(0, 1, 1000);
  ASSERT_NE(account_.LastOn(0), nullptr);
  EXPECT_EQ(account_.LastOn(0)->tid, 1);
  In(1, 1, 2000);
  EXPECT_EQ(account_.LastOn(0), nullptr);
}

}  // namespace
}  // namespace fieldcost::idle_agent
