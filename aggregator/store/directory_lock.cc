#include "aggregator/store/directory_lock.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>

namespace fieldcost::store {

Result<UniqueFd> LockDirectory(const std::filesystem::path& data_dir) {
  const std::filesystem::path path = data_dir / "lock";
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!fd.valid()) return ErrnoError("open", path, errno);
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return ErrnoError("lock", path, errno);
    return Fail(ErrorCode::kAlreadyExists,
                "data directory {} is in use by another fieldcost-aggregator", data_dir.string());
  }
  return fd;
}

bool IsLocked(const std::filesystem::path& data_dir) {
  const UniqueFd fd(::open((data_dir / "lock").c_str(), O_RDONLY | O_CLOEXEC));
  return fd.valid() && ::flock(fd.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

}  // namespace fieldcost::store
