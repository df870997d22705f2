#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "agent/settings/paths.h"
#include "common/base/file.h"
#include "common/base/result.h"

namespace fieldcost::probe {

// An in-memory directory that receives the rings of the programs of one `fieldcost probe run`. Its
// holder is its only collector; the lock is released when the process ends. Movable.
class Session {
 public:
  // Creates one with that id, or a random one if it is 0. Errors: those of
  // settings::MakeMemoryDir().
  static Result<Session> Make(const settings::AgentPaths& paths, std::uint64_t id = 0);
  // Returns nullopt if another process holds it.
  static Result<std::optional<Session>> Take(const std::filesystem::path& directory);

  const std::filesystem::path& directory() const { return directory_; }
  std::uint64_t id() const { return id_; }

  // The files that programs left, by name.
  std::vector<std::filesystem::path> Files() const;
  // Removes the directory and its contents.
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

// Returns all existing sessions, in each usable memory root.
std::vector<std::filesystem::path> SessionDirectories(const settings::AgentPaths& paths);

}  // namespace fieldcost::probe
