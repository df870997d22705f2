#include "agent/perf/wait_stack.h"

#include <gtest/gtest.h>

namespace fieldcost::perf {
namespace {

TEST(WaitStackTest, WhereAThreadWaitsIsTheLastTwoNumbersAndItsSystemCallTheFirst) {
  const WaitPlace place{.stack_pointer = 0x7ffc10, .address = 0x7f34, .system_call = -1};
  WaitPlace in_call = place;
  in_call.system_call = 35;
  EXPECT_EQ(ParseWaitPlace("35 0x0 0x1 0x2 0x3 0x4 0x5 0x7ffc10 0x7f34\n"), in_call);
  EXPECT_EQ(ParseWaitPlace("-1 0x7ffc10 0x7f34\n"), place);
  EXPECT_EQ(ParseWaitPlace("-1 0x7ffc10 0x7f34"), place);
}

TEST(WaitStackTest, RejectsRunningThreadsAndMalformedText) {
  for (const char* text :
       {"running\n", "running", "", "\n", " ", "0x1 0x2", "35 0x1 7f34\n", "35 0x1 0x\n",
        "35 0x 0x7f34\n", "35 0x1 0x7f34 \n", "a 0x1 0x7g\n", "a 0x1 0x7f34\n", "3a 0x1 0x7f34\n",
        " 0x1 0x7f34\n", "0x1 0x2 0x3", "35 0x1 0x10000000000000000\n"}) {
    EXPECT_FALSE(ParseWaitPlace(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace fieldcost::perf
