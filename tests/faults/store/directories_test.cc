// The names of the store's directories survive a power loss as what is in them does. They are not
// made by the engine, so they are not on the disk of fault_file_system.h: what is synced is seen at
// fsync(2) itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <mutex>
#include <string>
#include <vector>

#include "aggregator/store/store.h"
#include "tests/support/temp_dir.h"

namespace {

std::mutex mutex;
std::vector<std::string> synced;  // guarded by mutex

}  // namespace

// In place of the C library's.
extern "C" int fsync(int fd) {
  char path[4096] = {};
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  if (::readlink(link.c_str(), path, sizeof path - 1) > 0) {
    const std::lock_guard lock(mutex);
    synced.emplace_back(path);
  }
  return static_cast<int>(::syscall(SYS_fsync, fd));
}

namespace fieldcost::faults {
namespace {

TEST(DirectoriesTest, AreSyncedIntoTheirParentsBeforeAnythingIsAccepted) {
  const testing::TempDir dir;
  const std::filesystem::path data_dir = dir.path() / "data";
  const auto store = store::Store::Open({.data_dir = data_dir, .checkpoint_seconds = 0});
  ASSERT_TRUE(store.has_value()) << store.error().message;
  const std::lock_guard lock(mutex);
  EXPECT_THAT(synced, ::testing::Contains(dir.path().string()));  // has "data"
  EXPECT_THAT(synced, ::testing::Contains(data_dir.string()));    // has "store"
}

}  // namespace
}  // namespace fieldcost::faults
