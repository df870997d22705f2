#pragma once

#include <cstddef>
#include <filesystem>
#include <string_view>
#include <utility>

#include "common/base/result.h"

namespace fieldcost::recording {

// A file mapped for reading, with its size at the time of opening. Writes by other processes are
// visible, so that data may change after it was checked; a process that truncates the file kills
// this one (SIGBUS). Movable.
class MappedFile {
 public:
  // kInvalidArgument if it is not a regular file.
  static Result<MappedFile> Open(const std::filesystem::path& path);
  MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  MappedFile& operator=(MappedFile&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~MappedFile();

  std::string_view bytes() const { return bytes_; }

 private:
  explicit MappedFile(std::string_view bytes) : bytes_(bytes) {}
  std::string_view bytes_;
};

}  // namespace fieldcost::recording
