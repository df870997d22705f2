#include "common/serve/disk_room.h"

#include <gtest/gtest.h>

#include "tests/support/temp_dir.h"

namespace fieldcost::serve {
namespace {

TEST(ServeDiskRoomTest, ADirectoryThatIsNotThereHasNoKnownRoom) {
  const testing::TempDir dir;
  EXPECT_TRUE(FreeBytes(dir.path()).has_value());
  EXPECT_FALSE(FreeBytes(dir.path() / "none").has_value());
}

}  // namespace
}  // namespace fieldcost::serve
