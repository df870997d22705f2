#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "common/base/file.h"
#include "common/base/result.h"
#include "common/recording/file_format.h"

namespace fieldcost::recording {

// A file that frames are appended to. They are held back until Flush(), or until there are
// kWriteBytes of them. After a failure nothing more is written, and the file is cut back to what
// was flushed last. Moves; not thread-safe.
class FrameFile {
 public:
  // Makes the file with mode 0600, in the place of one that is there.
  static Result<FrameFile> Create(const std::filesystem::path& path, const ClockAnchors& anchors);

  // Keeps all in memory, from which TakeBytes() takes it.
  static FrameFile InMemory(const ClockAnchors& anchors);

  // Appends a frame; returns its offset. kIo and the like if the file has failed, now or before.
  // REQUIRES: payload.size() <= kMaxFramePayloadBytes.
  Result<std::uint64_t> Append(FrameType type, std::string_view payload);
  // Hands everything to the system, where the end of this process does not reach it.
  Status Flush();
  // Waits until it is on the disk, too.
  Status Sync();
  // REQUIRES: InMemory(). Nothing may follow.
  std::string TakeBytes() { return std::move(pending_); }

  std::uint64_t size() const { return written_ + pending_.size(); }
  std::uint32_t frames() const { return frames_; }
  const std::filesystem::path& path() const { return path_; }

 private:
  FrameFile(std::filesystem::path path, UniqueFd fd) : path_(std::move(path)), fd_(std::move(fd)) {}
  Status Fail(Error error);

  std::filesystem::path path_;
  UniqueFd fd_;  // none: in memory
  std::string pending_;
  std::uint64_t written_ = 0;
  std::uint32_t frames_ = 0;
  Status failure_;
};

}  // namespace fieldcost::recording
