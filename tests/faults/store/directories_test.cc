// The names of the store's directories survive a power loss as what is in them does. They are not
// made by the engine, so they are not on the disk of fault_file_system.h: what is synced is seen at
// fsync(2) itself.
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

// True if both the directory above `data_dir` (which names it) and itself were synced.
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
