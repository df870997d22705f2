#include "agent/settings/consent.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include "common/base/file.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::settings {
namespace {

using std::chrono::microseconds;

constexpr WallTime kSince{microseconds(1'750'000'000'123'456)};

TEST(ConsentTest, MissingFileMeansOff) {
  const testing::TempDir directory;
  const auto consent = LoadConsent(directory.path() / "consent");
  ASSERT_TRUE(consent);
  EXPECT_EQ(consent->mode, Mode::kOff);
}

TEST(ConsentTest, ComesBackFromDiskToTheMicrosecond) {
  const testing::TempDir directory;
  for (const Mode mode : {Mode::kOff, Mode::kLocal, Mode::kOn}) {
    ASSERT_TRUE(SaveConsent(directory.path() / "consent", {.mode = mode, .since = kSince}));
    const auto consent = LoadConsent(directory.path() / "consent");
    ASSERT_TRUE(consent) << consent.error().message;
    EXPECT_EQ(consent->mode, mode);
    EXPECT_EQ(consent->since, kSince);
  }
  EXPECT_EQ(*ReadFile(directory.path() / "consent", 100), "on 2025-06-15T15:06:40.123456Z\n");
}

TEST(ConsentTest, FileThatCannotBeUnderstoodIsRefused) {
  const testing::TempDir directory;
  const auto file = directory.path() / "consent";
  for (const char* text :
       {"", "on", "on\n", "yes 2025-06-15T15:06:40Z\n", "on 2025-06-15\n",
        "on 2025-13-15T15:06:40Z\n", "on 2025-06-15T25:06:40Z\n", "on 2025-06-15T15:06:40\n",
        "on 2025-06-15T15:06:40.Z\n", "on 2025-06-15T15:06:40.1234567Z\n",
        "on 2025-06-15T15:06:40Z", "on -025-06-15T15:06:40Z\n"}) {
    ASSERT_TRUE(WriteFileAtomically(file, text, 0600));
    const auto consent = LoadConsent(file);
    ASSERT_FALSE(consent) << text;
    EXPECT_EQ(consent.error().code, ErrorCode::kCorrupt) << text;
    EXPECT_THAT(consent.error().message, ::testing::HasSubstr(file.string()));
  }
}

TEST(ConsentTest, UnknownModeIsRefusedByName) {
  const auto mode = ParseMode("maybe");
  ASSERT_FALSE(mode);
  EXPECT_THAT(mode.error().message, ::testing::HasSubstr("\"maybe\""));
}

TEST(ConsentTest, ConsentCanBeWithdrawnOnAFullDisk) {
  const testing::TempDir directory;
  const auto file = directory.path() / "consent";
  ASSERT_TRUE(SaveConsent(file, {.mode = Mode::kOn, .since = kSince}));
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit full = before;
  full.rlim_cur = 0;  // no file can grow
  ::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &full), 0);
  const Status kept = SaveConsent(file, {.mode = Mode::kOff, .since = kSince});
  const Status withdrawn = WithdrawConsent(file, kSince);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ::signal(SIGXFSZ, SIG_DFL);
  EXPECT_FALSE(kept) << "the disk is not full";
  EXPECT_TRUE(withdrawn) << withdrawn.error().message;
  EXPECT_EQ(LoadConsent(file)->mode, Mode::kOff);
}

TEST(ConsentTest, IsNeverRetroactiveAndNeverForForcedPicks) {
  struct Row {
    Mode mode;
    int start;  // microseconds after consent
    bool forced;
    bool keep;
    bool send;
  };
  constexpr Row kTable[] = {
      {Mode::kOff, -1, false, false, false}, {Mode::kOff, 1, false, false, false},
      {Mode::kOff, 1, true, false, false},   {Mode::kLocal, -1, false, false, false},
      {Mode::kLocal, 0, false, true, false}, {Mode::kLocal, 1, false, true, false},
      {Mode::kLocal, 1, true, true, false},  {Mode::kOn, -1, false, false, false},
      {Mode::kOn, 0, false, true, true},     {Mode::kOn, 1, false, true, true},
      {Mode::kOn, 1, true, true, false},     {Mode::kOn, -1, true, false, false},
  };
  for (const Row& row : kTable) {
    const Consent consent{.mode = row.mode, .since = kSince};
    const WallTime start = kSince + microseconds(row.start);
    EXPECT_EQ(MayKeep(consent, start), row.keep) << Name(row.mode) << row.start;
    EXPECT_EQ(MaySend(consent, start, row.forced), row.send)
        << Name(row.mode) << row.start << row.forced;
  }
}

}  // namespace
}  // namespace fieldcost::settings
