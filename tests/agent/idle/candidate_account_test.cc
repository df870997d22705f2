#include "agent/idle/candidate_account.h"

#include <gtest/gtest.h>

#include <string>

#include "agent/idle/idle_thread_state.h"

namespace fieldcost::idle_agent {
namespace {

constexpr std::uint64_t kTick = 1000;

// A thread's stack consists of its number and the number of times that it has run.
class CandidateAccountTest : public ::testing::Test {
 protected:
  // Adds this many idle ticks of CPU 0, up to this tick. Returns the threads that ran again and
  // those whose stacks were requested.
  std::string Take(const std::vector<ThreadState>& states, std::uint64_t last_tick, int ticks) {
    std::vector<std::pair<std::uint32_t, CpuLook>> looks;
    for (int i = ticks - 1; i >= 0; --i) {
      const std::uint64_t end = (last_tick - static_cast<std::uint64_t>(i)) * kTick;
      looks.push_back({0, {.begin_ns = end - kTick, .end_ns = end, .idle = true}});
    }
    account_.Take(states, looks, last_tick * kTick);
    std::string text;
    for (const WaitPointer& wait : account_.ToRead()) {
      text += "read " + std::to_string(wait->tid) + "; ";
      wait->stack = StackId{static_cast<std::uint32_t>(wait->tid)};
      wait->state = ThreadWait::Stack::kKnown;
    }
    for (const IdleAccount::Told& told : account_.Tell()) {
      const std::string who = told.wait == nullptr ? "none" : std::to_string(told.wait->tid);
      text += who + (told.goes_on ? " goes on; " : " idle; ");
    }
    return text;
  }

  CandidateAccount account_{kTick};
};

ThreadState Waiting(pid_t tid, std::uint64_t runs, std::uint64_t last_ns = 0,
                    std::uint32_t cpu = 0) {
  return {.pid = 1, .tid = tid, .waits = true, .cpu = cpu, .runs = runs, .last_ns = last_ns};
}

TEST_F(CandidateAccountTest, AttributesIdleTicksToTheThreadThatRanThereLast) {
  EXPECT_EQ(Take({Waiting(1, 5, 700), Waiting(2, 9, 800), Waiting(3, 9, 900, 1)}, 3, 2),
            "read 2; read 3; read 1; 2 idle; 2 idle; ");
}

TEST_F(CandidateAccountTest, AlternatesBetweenThreadsWithoutRunTimes) {
  EXPECT_EQ(Take({Waiting(1, 5), Waiting(2, 9)}, 4, 4),
            "read 1; read 2; 1 idle; 2 idle; 1 idle; 2 idle; ");
  // A thread that has not run since is not a candidate.
  EXPECT_EQ(Take({Waiting(1, 6), Waiting(2, 9)}, 6, 2), "read 1; 1 goes on; 1 idle; 1 idle; ");
}

TEST_F(CandidateAccountTest, TicksWhileAThreadRunsBelongToThePreviousThread) {
  ThreadState runs = Waiting(1, 5, 900);
  runs.waits = false;
  EXPECT_EQ(Take({runs, Waiting(2, 9, 100)}, 1, 1), "read 2; none idle; ");
  runs.waits = true;
  EXPECT_EQ(Take({runs, Waiting(2, 9, 100)}, 2, 1), "read 1; 1 idle; ");
  runs.waits = false;
  runs.runs = 6;
  EXPECT_EQ(Take({runs, Waiting(2, 9, 100)}, 3, 1), "1 idle; 1 goes on; ");
  EXPECT_EQ(Take({}, 4, 1), "none idle; ");
}

TEST_F(CandidateAccountTest, AThreadThatRanAfterIdleTicksEndsTheIdlePeriod) {
  EXPECT_EQ(Take({Waiting(1, 5, 700), Waiting(2, 9, 800)}, 1, 1), "read 2; read 1; 2 idle; ");
  EXPECT_EQ(Take({Waiting(1, 6, 900), Waiting(2, 9, 800)}, 2, 0), "1 goes on; ");
  EXPECT_EQ(Take({Waiting(1, 7, 1000), Waiting(2, 9, 800)}, 3, 0), "");
}

TEST(ThreadStateTest, ReadsStateCpuAndRunsAfterAnyName) {
  const std::string stat =
      "4242 (a) (b c) S 1 4242 4242 0 -1 4194304 100 0 0 0 1 2 0 0 20 0 5 0 1234 1000 200 "
      "18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 3 0 0 0 0 0\n";
  const std::string sched =
      "a (4242, #threads: 5)\n-------\nse.exec_start      :      66642155.124025\nse.vruntime : "
      "1.5\n";
  const auto state = ParseThreadState(stat, "100 200 42\n", sched);
  ASSERT_TRUE(state.has_value());
  EXPECT_EQ(*state, (ThreadState{.waits = true, .cpu = 3, .runs = 42, .last_ns = 66642155124025}));
  EXPECT_EQ(ParseThreadState(stat, "100 200 42\n", "")->last_ns, 0U);
  EXPECT_EQ(ParseThreadState(stat, "100 200 42\n", "se.exec_start : 1.5\n")->last_ns, 0U);
}

TEST(ThreadStateTest, RefusesMalformedThreadStates) {
  for (const char* stat : {"", "1 (a", "1 (a) ", "1 (a) S 1 2", "1 (a) SS 1 2", ") S"})
    EXPECT_FALSE(ParseThreadState(stat, "1 2 3", "").has_value()) << stat;
  const std::string fields(
      " 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 7 0");
  EXPECT_TRUE(ParseThreadState("1 (a) R" + fields, "1 2 3", "").has_value());
  EXPECT_FALSE(ParseThreadState("1 (a) Z" + fields, "1 2 3", "").has_value());
  EXPECT_FALSE(ParseThreadState("1 (a) R" + fields, "1 2", "").has_value());
}

}  // namespace
}  // namespace fieldcost::idle_agent
