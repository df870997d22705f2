#include "common/base/secret_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "common/base/file.h"

namespace fieldcost {
namespace {

constexpr mode_t kGroupAndOthers = 077;

}  // namespace

Result<std::string> ReadSecretFile(std::string_view what, const std::filesystem::path& path,
                                   std::size_t max_bytes) {
  // O_NONBLOCK: a FIFO in the file's place must not hang the program.
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (!fd.valid()) return ErrnoError(fmt::format("open {}", what), path, errno);
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return ErrnoError(fmt::format("stat {}", what), path, errno);
  if (!S_ISREG(info.st_mode)) {
    return Fail(ErrorCode::kInvalidArgument, "read {} {}: not a regular file", what, path.string());
  }
  if ((info.st_mode & kGroupAndOthers) != 0) {
    return Fail(ErrorCode::kPermissionDenied,
                "read {} {}: mode {:04o} gives group or others access; run chmod 600 on it", what,
                path.string(), info.st_mode & 07777);
  }
  const uid_t reader = ::geteuid();
  if (info.st_uid != reader && info.st_uid != 0 && reader != 0) {
    return Fail(ErrorCode::kPermissionDenied,
                "read {} {}: it belongs to user {}, who can read and change it; run chown {} on it",
                what, path.string(), info.st_uid, reader);
  }
  std::string bytes(max_bytes + 1, '\0');
  std::size_t got = 0;
  while (got < bytes.size()) {
    const ssize_t more = ::read(fd.get(), bytes.data() + got, bytes.size() - got);
    if (more < 0 && errno == EINTR) continue;
    if (more < 0) return ErrnoError(fmt::format("read {}", what), path, errno);
    if (more == 0) break;
    got += static_cast<std::size_t>(more);
  }
  if (got > max_bytes) {
    return Fail(ErrorCode::kTooLarge, "read {} {}: larger than {} bytes", what, path.string(),
                max_bytes);
  }
  bytes.resize(got);
  return bytes;
}

}  // namespace fieldcost
