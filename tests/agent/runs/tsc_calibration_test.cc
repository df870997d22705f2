#include "agent/runs/tsc_calibration.h"

#include <gtest/gtest.h>

#include "common/base/file.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::runs {
namespace {

TEST(TscCalibrationTest, IsCachedForThisBoot) {
  const testing::TempDir directory;
  const auto cache = directory.path() / "clock";
  const std::uint64_t first = TscMultiplier(cache);
  if (first == 0) GTEST_SKIP() << "no invariant time stamp counter here";
  const auto text = ReadFile(cache, 256);
  ASSERT_TRUE(text);
  EXPECT_EQ(TscMultiplier(cache), first);
  // Uses the cached value, even if it was changed.
  const std::string boot_id = text->substr(0, text->find(' '));
  ASSERT_TRUE(WriteFileAtomically(cache, boot_id + " 1717986918\n", 0600));
  EXPECT_EQ(TscMultiplier(cache), 1717986918U);
  // Does not use a value of another boot, or nonsense.
  for (const std::string stale : {"other-boot 1717986918\n", "x", "", "a b c\n"}) {
    ASSERT_TRUE(WriteFileAtomically(cache, stale, 0600));
    const std::uint64_t measured = TscMultiplier(cache);
    EXPECT_GT(measured, first - first / 50);
    EXPECT_LT(measured, first + first / 50);
  }
}

}  // namespace
}  // namespace fieldcost::runs
