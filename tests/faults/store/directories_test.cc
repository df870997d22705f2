// The directory entries of the store's directories must survive a power loss, like their contents.
// The engine does not create these directories, so they are not on the disk of fault_file_system.h;
// this test intercepts fsync(2) instead.
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

#include "aggregator/store/store.h"
#include "tests/faults/store/child.h"
#include "tests/support/temp_dir.h"

namespace {

std::mutex mutex;
std::vector<std::string> synced;  // guarded by mutex

}  // namespace

// Replaces the C library's function.
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

// Opens a store; checks that both `data_dir` and its parent directory (which names it) were synced.
Status OpenAndLook(const std::filesystem::path& data_dir) {
  FIELDCOST_ASSIGN(const auto store,
                   store::Store::Open({.data_dir = data_dir, .checkpoint_seconds = 0}));
  const std::lock_guard lock(mutex);
  for (const std::filesystem::path& directory : {data_dir.parent_path(), data_dir}) {
    if (std::find(synced.begin(), synced.end(), directory.string()) == synced.end()) {
      return Fail(ErrorCode::kIo, "{} was not synced", directory.string());
    }
  }
  return {};
}

TEST(DirectoriesTest, AreSyncedIntoTheirParentsBeforeAnythingIsAccepted) {
  const testing::TempDir dir;
  const ChildResult result = RunInChild([&] { return OpenAndLook(dir.path() / "data"); });
  EXPECT_TRUE(result.good) << result.trouble;
}

}  // namespace
}  // namespace fieldcost::faults
