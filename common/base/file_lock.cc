#include "common/base/file_lock.h"

#include <sys/file.h>

#include <cerrno>
#include <thread>

#include "common/base/file.h"

namespace fieldcost {

Result<bool> LockWithin(int fd, const std::filesystem::path& path, std::chrono::milliseconds wait) {
  constexpr std::chrono::milliseconds kTryEvery{20};
  const auto until = std::chrono::steady_clock::now() + wait;
  while (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) return ErrnoError("lock", path, errno);
    if (std::chrono::steady_clock::now() >= until) return false;
    std::this_thread::sleep_for(kTryEvery);
  }
  return true;
}

}  // namespace fieldcost
