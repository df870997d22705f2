#include "common/base/clock.h"

#include <gtest/gtest.h>

#include "tests/support/wait_until.h"

namespace fieldcost {
namespace {

using std::chrono::days;
using std::chrono::microseconds;

TEST(WeekOfTest, WeeksStartOnThursdaysAtMidnightUtc) {
  EXPECT_EQ(WeekOf(WallTime{}), 0u);
  EXPECT_EQ(WeekOf(WallTime(days(7)) - microseconds(1)), 0u);
  EXPECT_EQ(WeekOf(WallTime(days(7))), 1u);
  using namespace std::chrono_literals;
  EXPECT_EQ(WeekOf(std::chrono::sys_days(2023y / 6 / 8)), 2788u);  // a Thursday
  EXPECT_EQ(WeekOf(std::chrono::sys_days(2023y / 6 / 14) + 23h), 2788u);
}

TEST(WeekOfTest, TimesBefore1970CountAsItsFirstWeek) {
  EXPECT_EQ(WeekOf(WallTime(microseconds(-1))), 0u);
}

TEST(WeekOfDayTest, ADayNamesItsWeekAndAWeekItsFirstDay) {
  EXPECT_EQ(WeekOfDay("2023-06-08"), 2788u);
  EXPECT_EQ(WeekOfDay("2023-06-14"), 2788u);
  EXPECT_EQ(WeekOfDay("1970-01-01"), 0u);
  EXPECT_EQ(FirstDayOf(2788), "2023-06-08");
  EXPECT_EQ(FirstDayOf(0), "1970-01-01");
  for (const char* text : {"", "2023", "2023-6-8", "2023-02-29", "1969-12-31", "2023-06-08 ",
                           "2023/06/08", "20230-6-08"}) {
    EXPECT_FALSE(WeekOfDay(text)) << text;
  }
}

TEST(MicrosOfTest, TimesAreStoredAsMicrosecondsSince1970) {
  EXPECT_EQ(MicrosOf(WallTime{}), 0u);
  const WallTime time = std::chrono::sys_days(std::chrono::days(2)) + microseconds(7);
  EXPECT_EQ(MicrosOf(time), 172'800'000'007u);
  EXPECT_EQ(TimeOfMicros(MicrosOf(time)), time);
  EXPECT_EQ(MicrosOf(WallTime(microseconds(-1))), 0u);
}

TEST(ClockNsTest, AClockIsReadInNanoseconds) {
  timespec before{};
  ASSERT_EQ(::clock_gettime(CLOCK_MONOTONIC, &before), 0);
  const std::uint64_t now = MonotonicNs();
  timespec after{};
  ASSERT_EQ(::clock_gettime(CLOCK_MONOTONIC, &after), 0);
  EXPECT_GE(now / 1'000'000'000, static_cast<std::uint64_t>(before.tv_sec));
  EXPECT_LE(now / 1'000'000'000, static_cast<std::uint64_t>(after.tv_sec));
  EXPECT_LE(now, MonotonicNs());
}

TEST(SystemClockTest, DoesNotStandStill) {
  const WallTime start = SystemClock().Now();
  EXPECT_GT(start, WallTime(days(365 * 50)));
  EXPECT_TRUE(testing::WaitUntil([&] { return SystemClock().Now() != start; }));
}

}  // namespace
}  // namespace fieldcost
