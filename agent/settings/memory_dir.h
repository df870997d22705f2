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

// The first of the agent's memory roots that is usable: on tmpfs or ramfs, this user's and nobody
// else's. What is not there yet is not made. kUnavailable, with what is wrong with each, if none
// is: then nothing can be measured.
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
