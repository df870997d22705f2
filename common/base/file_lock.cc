#include "common/base/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <thread>

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

Result<std::optional<UniqueFd>> TakeLockFile(const std::filesystem::path& path,
                                             std::chrono::milliseconds wait) {
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd.valid()) return ErrnoError("open", path, errno);
  FIELDCOST_ASSIGN(const bool is_ours, LockWithin(fd.get(), path, wait));
  if (!is_ours) return std::optional<UniqueFd>();
  return std::optional<UniqueFd>(std::move(fd));
}

Result<bool> WaitForLockFile(const std::filesystem::path& path, std::chrono::milliseconds wait) {
  const UniqueFd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  if (!fd.valid() && errno == ENOENT) return true;
  if (!fd.valid()) return ErrnoError("open", path, errno);
  return LockWithin(fd.get(), path, wait);
}

}  // namespace fieldcost
