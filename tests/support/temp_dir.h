#pragma once

#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "common/base/check.h"

namespace fieldcost::testing {

// For files that must be in memory, such as run files of measured programs.
inline constexpr char kMemory[] = "/dev/shm";

// The roots below which agents let programs write these files, best first.
inline std::vector<std::filesystem::path> MemoryRoots() {
  const std::string user = std::to_string(::geteuid());
  const char* const session = ::getenv("XDG_RUNTIME_DIR");
  return {std::filesystem::path(session == nullptr ? "/nowhere" : session) / "fieldcost",
          std::filesystem::path("/run/user") / user / "fieldcost",
          std::filesystem::path(kMemory) / ("fieldcost-" + user)};
}

// A fresh directory, removed recursively at the end, along with the memory directory of an agent
// that had its state in it.
class TempDir {
 public:
  explicit TempDir(const std::filesystem::path& parent = std::filesystem::temp_directory_path()) {
    std::string name = (parent / "fieldcost.XXXXXX").string();
    FIELDCOST_CHECK(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
    for (const std::filesystem::path& root : MemoryRoots()) {
      std::filesystem::remove_all(root / path_.relative_path(), ignored);
    }
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace fieldcost::testing
