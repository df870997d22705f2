#pragma once

#include <cstddef>
#include <filesystem>
#include <string_view>
#include <utility>

#include "common/base/result.h"

namespace fieldcost::recording {

// A file's bytes as they were long when it was opened, mapped to be read. What another process
// writes into them is seen, so what was checked may be different later; one that cuts the file
// short ends this process (SIGBUS). Moves.
class MappedFile {
 public:
  // kInvalidArgument if it is no regular file.
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
