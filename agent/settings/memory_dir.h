#pragma once

#include <filesystem>
#include <vector>

#include "agent/settings/paths.h"
#include "common/base/result.h"

namespace fieldcost::agent {

// Where measured programs leave what they write (run files, leases, skip file): on memory, since a
// program that has a file mapped is killed by a signal where the disk is full, or gone, at the
// wrong moment. It lasts until the machine is switched off; below XDG_RUNTIME_DIR, until the user
// logs out. Below `root` all is this user's alone, and each agent has a directory of its own.
struct MemoryDir {
  std::filesystem::path root;
  std::filesystem::path directory;  // root/STATE_DIR
};

// Returns the first usable one of the agent's memory roots: on tmpfs or ramfs, and accessible only
// to this user. Creates nothing. kUnavailable, with the problem of each, if none is usable: then
// nothing can be measured.
Result<MemoryDir> FindMemoryDir(const AgentPaths& paths);

// The same, and makes it and runs/ (mode 0700).
Result<MemoryDir> MakeMemoryDir(const AgentPaths& paths);

// The directories that may hold run files, of those that are there: of each usable memory root
// (programs may have been told another one before), and state_dir/runs, where versions before
// policy version 3 left them.
std::vector<std::filesystem::path> RunDirectories(const AgentPaths& paths);

// Removes what those versions left in the state directory, but for run files.
void RemoveOldFiles(const AgentPaths& paths);

}  // namespace fieldcost::agent
