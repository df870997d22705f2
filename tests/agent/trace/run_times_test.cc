#include "agent/trace/run_times.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace fieldcost::trace {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class RunTimesTest : public ::testing::Test {
 protected:
  // Rounded to 10 ns; the last digit shows that the thread had a CPU.
  std::vector<std::uint64_t> ended_;
  RunTimes times_{4};
  std::vector<pid_t> of_;
  RunTimes::Sink sink_ = [this](pid_t tid, std::uint64_t run_ns) {
    of_.push_back(tid);
    ended_.push_back(run_ns / 10 * 10);
  };
};

TEST_F(RunTimesTest, AThreadHasEachCpuFromInToOut) {
  times_.In(7, 1, 100);
  times_.Out(7, 150);
  times_.In(7, 3, 200);
  times_.Out(7, 230);
  times_.In(7, 1, 300);
  EXPECT_EQ(times_.used(), 2U);
  times_.Exit(7, 400, sink_);
  EXPECT_THAT(ended_, UnorderedElementsAre(150, 30));
  EXPECT_THAT(of_, ElementsAre(7, 7));
  EXPECT_EQ(times_.used(), 0U);
}

TEST_F(RunTimesTest, IgnoresRepeatedScheduleIn) {
  times_.In(7, 1, 100);
  times_.In(7, 2, 150);
  times_.Exit(7, 200, sink_);
  EXPECT_THAT(ended_, ElementsAre(100));
}

TEST_F(RunTimesTest, UnknownThreadsAndEarlierTimesCountAsZero) {
  times_.Out(7, 100);
  times_.Exit(7, 200, sink_);
  times_.In(8, 0, 300);
  times_.Out(8, 200);  // before it was scheduled in
  times_.ExitAll(400, sink_);
  EXPECT_THAT(ended_, ElementsAre(0));
  times_.ExitAll(500, sink_);
  EXPECT_THAT(ended_, ElementsAre(0));
}

}  // namespace
}  // namespace fieldcost::trace
