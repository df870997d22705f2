#include "tools/cli/time_argument.h"

#include <gtest/gtest.h>

namespace fieldcost::cli {
namespace {

using std::chrono::seconds;

TEST(TimeTextTest, DurationsAreANumberAndAUnit) {
  EXPECT_EQ(ParseDuration("90s"), seconds(90));
  EXPECT_EQ(ParseDuration("10m"), seconds(600));
  EXPECT_EQ(ParseDuration("2h"), seconds(7200));
  EXPECT_EQ(ParseDuration("3d"), seconds(3 * 86400));
  EXPECT_EQ(ParseDuration("999999w"), seconds(999999LL * 604800));
  for (const char* text : {"", "m", "10", "10x", "-1m", "1 m", "1.5h", "1000000s", "10mm"}) {
    EXPECT_FALSE(ParseDuration(text)) << text;
  }
}

TEST(TimeTextTest, PastTimesAreAgoOrOfUtc) {
  const WallTime now{std::chrono::sys_days(std::chrono::year(2026) / 11 / 23)};
  EXPECT_EQ(*ParsePastTime("10m", now), now - seconds(600));
  EXPECT_EQ(*ParsePastTime("2026-11-23", WallTime{}), now);
  const WallTime time = now + seconds(10 * 3600 + 30 * 60);
  for (const char* text : {"2026-11-23T10:30", "2026-11-23 10:30", "2026-11-23T10:30Z",
                           "2026-11-23T10:30:00", "2026-11-23T10:30:00Z"}) {
    EXPECT_EQ(*ParsePastTime(text, WallTime{}), time) << text;
  }
  EXPECT_EQ(*ParsePastTime("2026-11-23T10:30:07", WallTime{}), time + seconds(7));
  for (const char* text : {"", "2026", "2026-11", "2026-13-01", "2026-02-30", "2026-11-23T",
                           "yesterday", "2026-11-23T24:00", "2026-11-23T10", "2026-11-23T10:30:60",
                           "2026-11-23T10:30+01:00", "2026-11-23x"}) {
    const auto time_of = ParsePastTime(text, now);
    ASSERT_FALSE(time_of) << text;
    EXPECT_EQ(time_of.error().code, ErrorCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace fieldcost::cli
