#include "common/base/file_lock.h"

#include <gtest/gtest.h>

#include "tests/support/temp_dir.h"

namespace fieldcost {
namespace {

using std::chrono::milliseconds;

TEST(LockFileTest, OnlyOneHolderAtATime) {
  const testing::TempDir directory;
  const std::filesystem::path path = directory.path() / "a.lock";
  auto first = TakeLockFile(path, milliseconds(0));
  ASSERT_TRUE(first.has_value()) << first.error().message;
  ASSERT_TRUE(first->has_value());
  EXPECT_FALSE(TakeLockFile(path, milliseconds(0)).value().has_value());
  EXPECT_FALSE(WaitForLockFile(path, milliseconds(0)).value());
  first->reset();
  EXPECT_TRUE(WaitForLockFile(path, milliseconds(0)).value());
  EXPECT_TRUE(TakeLockFile(path, milliseconds(0)).value().has_value());
}

TEST(LockFileTest, WaitingNeedsNoFileAndCreatesNone) {
  const testing::TempDir directory;
  const std::filesystem::path path = directory.path() / "a.lock";
  EXPECT_TRUE(WaitForLockFile(path, milliseconds(0)).value());
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(LockFileTest, ALinkIsNotFollowed) {
  const testing::TempDir directory;
  const std::filesystem::path path = directory.path() / "a.lock";
  std::filesystem::create_symlink(directory.path() / "other", path);
  EXPECT_FALSE(TakeLockFile(path, milliseconds(0)).has_value());
  EXPECT_FALSE(WaitForLockFile(path, milliseconds(0)).has_value());
  EXPECT_FALSE(std::filesystem::exists(directory.path() / "other"));
}

}  // namespace
}  // namespace fieldcost
