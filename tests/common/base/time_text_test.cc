#include "common/base/time_text.h"

#include <gtest/gtest.h>

namespace fieldcost {
namespace {

TEST(TimeTextTest, PrintsTimesToTheMinuteOrTheSecond) {
  const std::chrono::sys_seconds time =
      std::chrono::sys_days(std::chrono::year(2026) / 2 / 3) + std::chrono::seconds(4 * 3600 + 65);
  EXPECT_EQ(MinuteText(time), "2026-02-03 04:01 UTC");
  EXPECT_EQ(Rfc3339Text(time), "2026-02-03T04:01:05Z");
}

}  // namespace
}  // namespace fieldcost
