#include "common/base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "common/base/write_all.h"

namespace fieldcost {
namespace {

ErrorCode CodeOf(int error_number) {
  switch (error_number) {
    case ENOENT:
    case ENOTDIR:
      return ErrorCode::kNotFound;
    case EACCES:
    case EPERM:
    case EROFS:
      return ErrorCode::kPermissionDenied;
    case EEXIST:
      return ErrorCode::kAlreadyExists;
    case EMFILE:
    case ENFILE:
    case ENOMEM:
      return ErrorCode::kUnavailable;
    default:
      return ErrorCode::kIo;
  }
}

// Advice about the error, appended to the reason.
std::string_view RemedyOf(int error_number) {
  return error_number == EMFILE ? "; raise the limit with ulimit -n" : "";
}

}  // namespace

void UniqueFd::Reset() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

Error ErrnoError(std::string_view action, const std::filesystem::path& path, int error_number) {
  return Fail(CodeOf(error_number), "{} {}: {}{}", action, path.string(),
              std::generic_category().message(error_number), RemedyOf(error_number));
}

Result<std::string> ReadFile(const std::filesystem::path& path, std::size_t max_bytes) {
  // Without O_NONBLOCK, opening a pipe would wait for a writer; regular files ignore it.
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (!fd.valid()) return ErrnoError("open", path, errno);
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return ErrnoError("stat", path, errno);
  if (!S_ISREG(info.st_mode)) {
    return Fail(ErrorCode::kInvalidArgument, "read {}: not a regular file", path.string());
  }
  std::string bytes;
  char chunk[16384];
  for (;;) {
    const ssize_t got = ::read(fd.get(), chunk, sizeof chunk);
    if (got < 0) {
      if (errno == EINTR) continue;
      return ErrnoError("read", path, errno);
    }
    if (got == 0) return bytes;
    bytes.append(chunk, static_cast<std::size_t>(got));
    if (bytes.size() > max_bytes) {
      return Fail(ErrorCode::kTooLarge, "read {}: larger than {} bytes", path.string(), max_bytes);
    }
  }
}

Status SyncDirectory(const std::filesystem::path& directory) {
  const UniqueFd fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid()) return ErrnoError("open directory", directory, errno);
  if (::fsync(fd.get()) != 0) return ErrnoError("sync directory", directory, errno);
  return {};
}

Status WriteFileAtomically(const std::filesystem::path& path, std::string_view bytes, int mode) {
  std::string name = path.string() + ".XXXXXX";
  const UniqueFd fd(::mkostemp(name.data(), O_CLOEXEC));
  if (!fd.valid()) return ErrnoError("create a temporary file next to", path, errno);
  Status status;
  if (const int failure = WriteAll(fd.get(), bytes); failure != 0) {
    status = ErrnoError("write", path, failure);
  }
  if (status && ::fchmod(fd.get(), static_cast<mode_t>(mode)) != 0) {
    status = ErrnoError("set mode of", path, errno);
  }
  if (status && ::fsync(fd.get()) != 0) status = ErrnoError("sync", path, errno);
  if (status && ::rename(name.c_str(), path.c_str()) != 0) {
    status = ErrnoError("replace", path, errno);
  }
  if (!status) {
    ::unlink(name.c_str());
    return status;
  }
  const std::filesystem::path directory = path.parent_path();
  return SyncDirectory(directory.empty() ? "." : directory);
}

Status MakeDirectories(const std::filesystem::path& path, int mode) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return {};
  if (path.has_parent_path()) {
    std::filesystem::create_directories(path.parent_path(), error);
    if (error) return ErrnoError("make directory", path.parent_path(), error.value());
  }
  if (::mkdir(path.c_str(), static_cast<mode_t>(mode)) != 0 && errno != EEXIST) {
    return ErrnoError("make directory", path, errno);
  }
  if (!std::filesystem::is_directory(path, error)) {
    return ErrnoError("make directory", path, ENOTDIR);
  }
  return {};
}

}  // namespace fieldcost
