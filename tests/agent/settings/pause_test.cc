#include "agent/settings/pause.h"

#include <gtest/gtest.h>

#include "agent/settings/consent.h"
#include "common/base/file.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::settings {
namespace {

constexpr WallTime kNow{std::chrono::microseconds(1'750'000'000'500'000)};

class PauseTest : public ::testing::Test {
 protected:
  PauseTest() { paths_.state_dir = directory_.path() / "state"; }

  testing::TempDir directory_;
  AgentPaths paths_;
};

TEST_F(PauseTest, ABreakEndsByItselfOrWhenItIsResumed) {
  EXPECT_FALSE(PausedUntil(paths_, kNow));
  EXPECT_FALSE(*EndPause(paths_));
  ASSERT_TRUE(SavePause(paths_, kNow + std::chrono::hours(1)));
  const auto end = PausedUntil(paths_, kNow);
  ASSERT_TRUE(end);
  EXPECT_GE(*end, kNow + std::chrono::hours(1));
  EXPECT_LT(*end, kNow + std::chrono::seconds(3601));
  EXPECT_TRUE(PausedUntil(paths_, *end - std::chrono::microseconds(1)));
  EXPECT_FALSE(PausedUntil(paths_, *end));
  ASSERT_TRUE(SavePause(paths_, kUntilResumed));
  EXPECT_EQ(PausedUntil(paths_, kNow + std::chrono::years(200)), kUntilResumed);
  EXPECT_TRUE(*EndPause(paths_));
  EXPECT_FALSE(PausedUntil(paths_, kNow));
}

TEST_F(PauseTest, TreatsAnUnreadablePauseAsAPause) {
  ASSERT_TRUE(SavePause(paths_, kNow));
  for (const char* text : {"", "1", "x\n", "-1\n", "99999999999999\n", "1 \n"}) {
    ASSERT_TRUE(WriteFileAtomically(paths_.pause_file(), text, 0600));
    EXPECT_EQ(PausedUntil(paths_, kNow), kUntilResumed) << text;
  }
}

TEST_F(PauseTest, SendsNothingWhilePaused) {
  paths_.system_file = directory_.path() / "none";
  ASSERT_TRUE(MakeDirectories(paths_.state_dir, 0700));
  ASSERT_TRUE(SaveConsent(paths_.consent_file(), {.mode = Mode::kOn, .since = kNow}));
  EXPECT_TRUE(CheckMaySend(paths_));
  ASSERT_TRUE(SavePause(paths_, kUntilResumed));
  EXPECT_EQ(CheckMaySend(paths_).error().code, ErrorCode::kPermissionDenied);
}

}  // namespace
}  // namespace fieldcost::settings
