#pragma once

#include <filesystem>
#include <string_view>

#include "agent/settings/paths.h"
#include "common/base/file.h"
#include "common/base/result.h"

namespace fieldcost::settings {

// A directory in memory, private to this process, for the output of programs that it starts.
// Deleted with this object. Movable; not thread-safe.
class ScratchDirectory {
 public:
  // Creates it below MakeMemoryDir(), with the same errors. `purpose` is the first part of its
  // name. Also removes directories of the same purpose whose processes were killed.
  static Result<ScratchDirectory> Make(const AgentPaths& paths, std::string_view purpose);

  ~ScratchDirectory();
  ScratchDirectory(ScratchDirectory&&) noexcept = default;
  ScratchDirectory& operator=(ScratchDirectory&&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  ScratchDirectory(std::filesystem::path path, UniqueFd lock)
      : path_(std::move(path)), lock_(std::move(lock)) {}

  std::filesystem::path path_;
  UniqueFd lock_;  // invalid: moved from
};

}  // namespace fieldcost::settings
