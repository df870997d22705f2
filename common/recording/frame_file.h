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

// An append-only file of frames. Frames are buffered until Flush() or until they reach kWriteBytes.
// After a failure nothing more is written, and the file is truncated to its state at the last
// flush. Movable; not thread-safe.
class FrameFile {
 public:
  // Creates the file with mode 0600, replacing an existing one.
  static Result<FrameFile> Create(const std::filesystem::path& path, const ClockAnchors& anchors);

  // Keeps everything in memory, for TakeBytes().
  static FrameFile InMemory(const ClockAnchors& anchors);

  // Appends a frame; returns its offset. kIo or another error if the file has failed, now or
  // before. REQUIRES: payload.size() <= kMaxFramePayloadBytes.
  Result<std::uint64_t> Append(FrameType type, std::string_view payload);
  // Passes everything to the operating system, so that it survives the end of this process.
  Status Flush();
  // Also waits until the data is on the disk.
  Status Sync();
  // REQUIRES: InMemory(). Nothing may follow.
  std::string TakeBytes();

  std::uint64_t size() const { return written_ + pending_.size(); }
  std::uint32_t frames() const { return frames_; }
  const std::filesystem::path& path() const { return path_; }

 private:
  FrameFile(std::filesystem::path path, UniqueFd fd) : path_(std::move(path)), fd_(std::move(fd)) {}
  Status Fail(Error error);

  std::filesystem::path path_;
  UniqueFd fd_;  // invalid: in memory
  std::string pending_;
  std::uint64_t written_ = 0;
  std::uint32_t frames_ = 0;
  Status failure_;
};

}  // namespace fieldcost::recording
