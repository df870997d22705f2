#pragma once

#include <filesystem>
#include <vector>

#include "agent/settings/paths.h"
#include "common/base/result.h"

namespace fieldcost::settings {

// The directory where measured programs write run files, leases and the skip file. It is in memory,
// since a program that has a file mapped is killed by a signal if the disk is full or gone at the
// wrong moment. It lasts until the machine is switched off; below XDG_RUNTIME_DIR, until the user
// logs out. Only this user can access `root`, and each agent has its own directory below it.
struct MemoryDir {
  std::filesystem::path root;
  std::filesystem::path directory;  // root/STATE_DIR
};

// Finds the first usable one of the agent's memory roots: on tmpfs or ramfs, and accessible only to
// this user. Creates nothing. If none is usable, returns kUnavailable with the problem of each;
// nothing can be measured then.
Result<MemoryDir> FindMemoryDir(const AgentPaths& paths);

// The same, but creates it and runs/ (mode 0700).
Result<MemoryDir> MakeMemoryDir(const AgentPaths& paths);

// The existing directories that may contain run files: one for each usable memory root (programs
// may have received a different one earlier).
std::vector<std::filesystem::path> RunDirectories(const AgentPaths& paths);

}  // namespace fieldcost::settings
