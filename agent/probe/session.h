#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "agent/settings/paths.h"
#include "common/base/file.h"
#include "common/base/result.h"

namespace fieldcost::probe {

// A directory on memory in which the programs of one `fieldcost probe run` leave their rings. Its
// holder is its only collector; the lock ends with the process. Moves.
class Session {
 public:
  // A new one with that id, or with a random one if it is 0. Errors: those of
  // agent::MakeMemoryDir().
  static Result<Session> Make(const agent::AgentPaths& paths, std::uint64_t id = 0);
  // nullopt: somebody else holds it.
  static Result<std::optional<Session>> Take(const std::filesystem::path& directory);

  const std::filesystem::path& directory() const { return directory_; }
  std::uint64_t id() const { return id_; }

  // The files that programs left, by name.
  std::vector<std::filesystem::path> Files() const;
  // Removes it with everything in it.
  Status Remove();

 private:
  Session(std::filesystem::path directory, std::uint64_t id, UniqueFd lock)
      : directory_(std::move(directory)), id_(id), lock_(std::move(lock)) {}

  std::filesystem::path directory_;
  std::uint64_t id_;
  UniqueFd lock_;
};

// The files that programs left in a session's directory, by name.
std::vector<std::filesystem::path> SessionFiles(const std::filesystem::path& directory);

// All sessions that are there, in each usable memory root.
std::vector<std::filesystem::path> SessionDirectories(const agent::AgentPaths& paths);

}  // namespace fieldcost::probe
