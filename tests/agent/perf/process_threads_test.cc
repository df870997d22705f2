#include "agent/perf/process_threads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/support/process.h"
#include "tests/support/wait_until.h"

namespace fieldcost::perf {
namespace {

using ::testing::Contains;

TEST(ProcessThreadsTest, ReadsTheStateAfterAnyName) {
  EXPECT_EQ(StatFromState("42 (a) (b c) S 1 42\n"), "S 1 42\n");
  for (const char* broken : {"", "42", "42 (a", "42 (a)", "42 (a) "})
    EXPECT_EQ(StatFromState(broken), "") << broken;
}

TEST(ProcessThreadsTest, RunningAndExitedThreadsAreNotWaiting) {
  for (const char state : std::string_view("SDTtI")) EXPECT_TRUE(IsWaitingState(state)) << state;
  for (const char state : std::string_view("RZX")) EXPECT_FALSE(IsWaitingState(state)) << state;
  EXPECT_FALSE(IsWaiting(::getpid(), ::gettid()));
  EXPECT_THAT(ThreadsOf(::getpid()), Contains(::gettid()));
}

TEST(ProcessThreadsTest, ASleeperWaitsUntilItIsGone) {
  fieldcost::testing::BackgroundProcess sleeper({.arguments = {"sleep", "1000"}});
  const pid_t pid = sleeper.pid();
  EXPECT_TRUE(fieldcost::testing::WaitUntil([&] { return IsWaiting(pid, pid); }));
  sleeper.Signal(SIGKILL);
  sleeper.Wait();
  EXPECT_FALSE(IsWaiting(pid, pid));
  EXPECT_TRUE(ThreadsOf(pid).empty());
}

}  // namespace
}  // namespace fieldcost::perf
