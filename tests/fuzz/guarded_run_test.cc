#include "tests/fuzz/guarded_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <vector>

namespace fieldcost::fuzz {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST(GuardedRunTest, AllInputsAreRunInOneChild) {
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  const GuardedReport report = RunGuarded(5, {}, [&](std::uint64_t number) {
    const char digit = static_cast<char>('0' + number);
    if (::write(pipe[1], &digit, 1) != 1) std::abort();
  });
  EXPECT_THAT(report.failed, SizeIs(0));
  char digits[6] = {};
  EXPECT_EQ(::read(pipe[0], digits, 5), 5);
  EXPECT_STREQ(digits, "01234");
  ::close(pipe[0]);
  ::close(pipe[1]);
}

TEST(GuardedRunTest, EachInputThatEndsTheProcessIsReportedAndTheOthersRun) {
  const GuardedReport report = RunGuarded(10, {}, [](std::uint64_t number) {
    if (number == 3) std::abort();
    if (number == 7) ::_exit(4);
  });
  ASSERT_THAT(report.failed, SizeIs(2));
  EXPECT_EQ(report.failed[0].number, 3u);
  EXPECT_THAT(report.failed[0].reason, HasSubstr("signal 6"));
  EXPECT_EQ(report.failed[1].number, 7u);
  EXPECT_EQ(report.failed[1].reason, "exit status 4");
}

TEST(GuardedRunTest, AnInputThatNeverEndsIsReported) {
  const GuardedReport report = RunGuarded(2, {.cpu_seconds = 1}, [](std::uint64_t number) {
    for (volatile bool on = number == 0; on;) {
    }
  });
  ASSERT_THAT(report.failed, SizeIs(1));
  EXPECT_EQ(report.failed[0].number, 0u);
  EXPECT_EQ(report.failed[0].reason, "more than 1 s of CPU");
}

TEST(GuardedRunTest, ReportsInputsThatHang) {
  const GuardedReport report = RunGuarded(2, {.clock_seconds = 1}, [](std::uint64_t number) {
    while (number == 1) ::pause();
  });
  ASSERT_THAT(report.failed, SizeIs(1));
  EXPECT_EQ(report.failed[0].number, 1u);
  EXPECT_EQ(report.failed[0].reason, "more than 1 s");
}

TEST(GuardedRunTest, AnInputThatTakesMuchMemoryIsReported) {
  constexpr std::size_t kBytes = std::size_t{700} << 20U;
  const GuardedReport report = RunGuarded(3, {.peak_mib = 600}, [](std::uint64_t number) {
    if (number == 1) std::vector<char>(kBytes, 'x').back() = 'y';
  });
  ASSERT_THAT(report.failed, SizeIs(1));
  EXPECT_EQ(report.failed[0].number, 1u);
  EXPECT_EQ(report.failed[0].reason, "the process used more than 600 MiB");
}

TEST(GuardedRunTest, AFailureAfterTheLastInputIsReported) {
  const GuardedReport report = RunGuarded(2, {}, [](std::uint64_t number) {
    if (number == 1) std::atexit([] { ::_exit(5); });
  });
  ASSERT_THAT(report.failed, SizeIs(1));
  EXPECT_EQ(report.failed[0].number, 2u);
}

TEST(GuardedRunTest, ItGivesUpAfterManyFailures) {
  const GuardedReport report = RunGuarded(1000, {}, [](std::uint64_t) { ::_exit(1); });
  EXPECT_THAT(report.failed, SizeIs(kMaxFailedInputs));
}

}  // namespace
}  // namespace fieldcost::fuzz
