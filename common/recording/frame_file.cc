#include "common/recording/frame_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "common/base/check.h"
#include "common/base/write_all.h"
#include "common/recording/recording_limits.h"

namespace fieldcost::recording {

Result<FrameFile> FrameFile::Create(const std::filesystem::path& path,
                                    const ClockAnchors& anchors) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) == 0) {
    if (!S_ISREG(info.st_mode)) {
      return fieldcost::Fail(ErrorCode::kInvalidArgument, "replace {}: not a regular file",
                             path.string());
    }
    // Processes that have the old file open or mapped keep it.
    if (::unlink(path.c_str()) != 0) return ErrnoError("replace", path, errno);
  }
  constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;
  UniqueFd fd(::open(path.c_str(), kFlags, 0600));
  if (!fd.valid()) return ErrnoError("create", path, errno);
  FrameFile file(path, std::move(fd));
  file.pending_ = EncodeHeader(anchors);
  FIELDCOST_TRY(file.Flush());
  return file;
}

FrameFile FrameFile::InMemory(const ClockAnchors& anchors) {
  FrameFile file({}, {});
  file.pending_ = EncodeHeader(anchors);
  return file;
}

std::string FrameFile::TakeBytes() {
  FIELDCOST_CHECK(!fd_.valid());
  return std::move(pending_);
}

Result<std::uint64_t> FrameFile::Append(FrameType type, std::string_view payload) {
  if (!failure_) return failure_.error();
  if (pending_.size() >= kWriteBytes) FIELDCOST_TRY(Flush());
  const std::uint64_t offset = size();
  AppendFrame(type, frames_, payload, pending_);
  ++frames_;
  return offset;
}

Status FrameFile::Fail(Error error) {
  // Readers would skip an incomplete end, too, but this way the file is intact up to its end.
  if (::ftruncate(fd_.get(), static_cast<off_t>(written_)) != 0) {
    error.message += "; its end is torn";
  }
  failure_ = std::move(error);
  return failure_;
}

Status FrameFile::Flush() {
  if (!failure_) return failure_;
  if (!fd_.valid()) return {};
  if (const int failure = WriteAll(fd_.get(), pending_); failure != 0) {
    return Fail(ErrnoError("write", path_, failure));
  }
  written_ += pending_.size();
  pending_.clear();
  return {};
}

Status FrameFile::Sync() {
  FIELDCOST_TRY(Flush());
  if (!fd_.valid()) return {};
  if (::fsync(fd_.get()) != 0) return Fail(ErrnoError("sync", path_, errno));
  return {};
}

}  // namespace fieldcost::recording
