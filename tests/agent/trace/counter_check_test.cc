#include "agent/trace/counter_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "common/base/file.h"

namespace fieldcost::trace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const std::vector<perf::Counter> kAll = {perf::Counter::kCycles, perf::Counter::kInstructions,
                                         perf::Counter::kCacheMisses, perf::Counter::kBranchMisses,
                                         perf::Counter::kFaults};

// The error's message; "" without an error.
std::string MessageOf(const Status& status) { return status ? "" : status.error().message; }

// The counter ran the whole time.
std::string WhyNotOf(perf::Counter counter, std::uint64_t value) {
  return MessageOf(
      CheckReading(counter, {.value = value, .enabled_ns = 5'000, .running_ns = 5'000}));
}

TEST(CounterTest, ParsesAListOfCounterNames) {
  EXPECT_THAT(perf::ParseCounters("faults,cycles").value(),
              ElementsAre(perf::Counter::kFaults, perf::Counter::kCycles));
  EXPECT_THAT(perf::ParseCounters("instructions,cache-misses,instructions,branch-misses").value(),
              ElementsAre(perf::Counter::kInstructions, perf::Counter::kCacheMisses,
                          perf::Counter::kBranchMisses));
  for (const perf::Counter counter : kAll) {
    EXPECT_THAT(perf::ParseCounters(Name(counter)).value(), ElementsAre(counter));
  }
  for (const char* const wrong : {"", ",", "cycles,", ",cycles", "Cycles", "cycles faults", "x"}) {
    EXPECT_FALSE(perf::ParseCounters(wrong).has_value()) << wrong;
  }
}

TEST(CounterTest, PeriodsAreByTimeOrFixed) {
  EXPECT_EQ(perf::PeriodOf(perf::Counter::kCycles, 2'007'017), 6'021'051U);
  EXPECT_EQ(perf::PeriodOf(perf::Counter::kInstructions, 1'000'000), 3'000'001U)
      << "even ones fit loops";
  EXPECT_EQ(perf::PeriodOf(perf::Counter::kCacheMisses, 1),
            perf::PeriodOf(perf::Counter::kCacheMisses, 1'000'000));
  for (const perf::Counter counter : kAll) {
    EXPECT_GT(perf::PeriodOf(counter, 1), 0U);
    // The kernel refuses periods with the highest bit.
    EXPECT_EQ(perf::PeriodOf(counter, UINT64_MAX) >> 63, 0U);
  }
}

TEST(CounterTest, CountsUserModeOnlyForAnyUser) {
  for (const perf::Counter counter : kAll) EXPECT_EQ(EventOf(counter).exclude_kernel, 1U);
}

TEST(CounterCheckTest, GoodReadingsAreBelieved) {
  // As for processes with 1 to 8 instructions per cycle.
  EXPECT_EQ(WhyNotOf(perf::Counter::kCycles, 10'000'321), "");
  EXPECT_EQ(WhyNotOf(perf::Counter::kCycles, 5'000'000), "");
  EXPECT_EQ(WhyNotOf(perf::Counter::kInstructions, 20'000'107), "");
  EXPECT_EQ(WhyNotOf(perf::Counter::kCacheMisses, 20'300), "");
  EXPECT_EQ(WhyNotOf(perf::Counter::kBranchMisses, 100'150), "");
  EXPECT_EQ(WhyNotOf(perf::Counter::kFaults, 256), "");
}

TEST(CounterCheckTest, RejectsImpossibleCounts) {
  for (const perf::Counter counter : kAll) {
    EXPECT_THAT(WhyNotOf(counter, 0), HasSubstr("it counted 0 for ")) << Name(counter);
    EXPECT_THAT(WhyNotOf(counter, ~std::uint64_t{0}), Not(IsEmpty())) << Name(counter);
  }
  EXPECT_EQ(WhyNotOf(perf::Counter::kInstructions, 9'999'999),
            "it counted 9999999 for 10,000,000 rounds of a loop");
  EXPECT_NE(WhyNotOf(perf::Counter::kInstructions, 40'000'001), "");
  EXPECT_NE(WhyNotOf(perf::Counter::kCycles, 2'499'999), "");
  EXPECT_NE(WhyNotOf(perf::Counter::kCycles, 1'000'000'001), "");
  EXPECT_NE(WhyNotOf(perf::Counter::kCacheMisses, 2'000), "");
  EXPECT_NE(WhyNotOf(perf::Counter::kBranchMisses, 19'999), "");
  EXPECT_NE(WhyNotOf(perf::Counter::kFaults, 255), "") << "these are known exactly";
  EXPECT_NE(WhyNotOf(perf::Counter::kFaults, 257), "");
}

TEST(CounterCheckTest, RejectsMultiplexedCounters) {
  const Status half = CheckReading(perf::Counter::kInstructions,
                                   {.value = 20'000'000, .enabled_ns = 5'000, .running_ns = 2'500});
  EXPECT_EQ(MessageOf(half), "it counted only 50 % of the time: ask for fewer counters");
  EXPECT_EQ(half.error().code, ErrorCode::kUnavailable);
  EXPECT_FALSE(CheckReading(perf::Counter::kInstructions,
                            {.value = 0, .enabled_ns = 5'000, .running_ns = 0}));
}

TEST(CounterCheckTest, FaultsPassWhereverEventsAreAllowed) {
  const UniqueFd event(perf::OpenPerfEvent(EventOf(perf::Counter::kFaults), 0, -1));
  if (!event.valid()) GTEST_SKIP() << "perf events are not allowed here";
  const auto checks = CheckCounters({perf::Counter::kFaults}, 1'003'009);
  ASSERT_EQ(checks.size(), 1U);
  EXPECT_EQ(checks[0].counter, perf::Counter::kFaults);
  EXPECT_EQ(MessageOf(checks[0].status), "");
}

TEST(CounterCheckTest, ReportsMissingCountersAndKeepsTheOthers) {
  const auto checks = CheckCounters(kAll, 1'003'009);
  ASSERT_EQ(checks.size(), kAll.size());
  for (std::size_t i = 0; i < kAll.size(); ++i) {
    EXPECT_EQ(checks[i].counter, kAll[i]);
    const UniqueFd event(perf::OpenPerfEvent(EventOf(kAll[i]), 0, -1));
    if (event.valid() || errno != ENOENT) continue;
    EXPECT_EQ(MessageOf(checks[i].status), "the kernel has no such counter here") << Name(kAll[i]);
  }
}

}  // namespace
}  // namespace fieldcost::trace
