#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "common/base/result.h"

namespace fieldcost {

// Owns a file descriptor; closes it. Movable, not copyable. -1 = none.
class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    if (this != &other) {
      Reset();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  ~UniqueFd() { Reset(); }
  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  void Reset();
  // Gives up ownership without closing the descriptor.
  int Release() { return std::exchange(fd_, -1); }

 private:
  int fd_ = -1;
};

// The error for a failed system call: "<action> <path>: <strerror>", with the code for that errno.
Error ErrnoError(std::string_view action, const std::filesystem::path& path, int error_number);

// Reads a whole regular file of at most `max_bytes` (else kTooLarge).
Result<std::string> ReadFile(const std::filesystem::path& path, std::size_t max_bytes);

// For files that only their owner may read.
inline constexpr int kPrivateFileMode = 0600;

// Replaces `path` durably: temporary file next to it, fsync, rename, fsync of the directory.
// Readers see the old bytes or the new ones, also after a power loss. `mode` as in open(2).
Status WriteFileAtomically(const std::filesystem::path& path, std::string_view bytes, int mode);

// Makes the entries of the directory durable, but not the contents of its files.
Status SyncDirectory(const std::filesystem::path& directory);

// Creates a directory and its parents, the last one with `mode`. Succeeds if it exists.
Status MakeDirectories(const std::filesystem::path& path, int mode);

}  // namespace fieldcost
