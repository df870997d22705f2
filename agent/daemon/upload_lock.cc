#include "agent/daemon/upload_lock.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <thread>

namespace fieldcost::daemon {
namespace {

constexpr char kLockName[] = "upload.lock";
constexpr std::chrono::milliseconds kLookAgain{20};

}  // namespace

Result<std::optional<UploadLock>> UploadLock::Take(const Profile& profile,
                                                   std::chrono::milliseconds wait) {
  const std::filesystem::path path = profile.state_dir / kLockName;
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd.valid()) return ErrnoError("open", path, errno);
  const auto until = std::chrono::steady_clock::now() + wait;
  while (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) return ErrnoError("lock", path, errno);
    if (std::chrono::steady_clock::now() >= until) return std::optional<UploadLock>();
    std::this_thread::sleep_for(kLookAgain);
  }
  return std::optional<UploadLock>(UploadLock(std::move(fd)));
}

}  // namespace fieldcost::daemon
