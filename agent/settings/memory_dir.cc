#include "agent/settings/memory_dir.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "common/base/file.h"
#include "common/base/text.h"
#include "common/shm/policy_file.h"
#include "common/shm/skip_file.h"

namespace fieldcost::settings {
namespace {

namespace fs = std::filesystem;

UniqueFd OpenDirectory(const fs::path& path, int more_flags) {
  return UniqueFd(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC | more_flags));
}

Status CheckMemory(int fd, const fs::path& path) {
  struct statfs found {};
  if (::fstatfs(fd, &found) != 0) return ErrnoError("inspect", path, errno);
  if (found.f_type == TMPFS_MAGIC || found.f_type == RAMFS_MAGIC) return {};
  return Fail(ErrorCode::kUnavailable, "{} is not on tmpfs", path.string());
}

// Checks the parent of a new root: only its owner may replace entries in it.
Status CheckParent(const fs::path& parent) {
  const UniqueFd fd = OpenDirectory(parent, 0);
  if (!fd.valid()) return ErrnoError("open", parent, errno);
  FIELDCOST_TRY(CheckMemory(fd.get(), parent));
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return ErrnoError("inspect", parent, errno);
  if (info.st_uid != ::geteuid() && (info.st_mode & S_ISVTX) == 0) {
    return Fail(ErrorCode::kUnavailable, "{} belongs to user {}", parent.string(), info.st_uid);
  }
  if (::faccessat(AT_FDCWD, parent.c_str(), W_OK | X_OK, AT_EACCESS) != 0) {
    return ErrnoError("write in", parent, errno);
  }
  return {};
}

Status CheckRoot(const fs::path& root) {
  const UniqueFd fd = OpenDirectory(root, O_NOFOLLOW);
  if (!fd.valid()) {
    if (errno == ENOENT) return CheckParent(root.parent_path());
    return ErrnoError("open", root, errno);
  }
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return ErrnoError("inspect", root, errno);
  if (info.st_uid != ::geteuid()) {
    return Fail(ErrorCode::kUnavailable, "{} belongs to user {}", root.string(), info.st_uid);
  }
  if ((info.st_mode & 077) != 0) {
    return Fail(ErrorCode::kUnavailable, "{} is open to other users (mode {:o})", root.string(),
                info.st_mode & 07777);
  }
  return CheckMemory(fd.get(), root);
}

fs::path DirectoryIn(const fs::path& root, const AgentPaths& paths) {
  fs::path directory = root / paths.state_dir.lexically_normal().relative_path();
  // "/state/" means "/state".
  return directory.has_filename() ? directory : directory.parent_path();
}

Result<MemoryDir> Check(const fs::path& root, const AgentPaths& paths) {
  MemoryDir memory{.root = root, .directory = DirectoryIn(root, paths)};
  FIELDCOST_TRY(CheckRoot(root));
  if (memory.directory.native().size() < shm::kMaxMemoryDirBytes) return memory;
  return Fail(ErrorCode::kUnavailable, "the name of {} is too long", memory.directory.string());
}

bool IsDirectory(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(fs::symlink_status(path, error));
}

}  // namespace

Result<MemoryDir> FindMemoryDir(const AgentPaths& paths) {
  std::string reasons;
  for (const fs::path& root : paths.memory_roots) {
    auto memory = Check(root, paths);
    if (memory) return memory;
    reasons += (reasons.empty() ? "" : "; ") + memory.error().message;
  }
  return Fail(ErrorCode::kUnavailable, "nothing can be measured: no tmpfs for run files: {}",
              EscapeControl(reasons));
}

Result<MemoryDir> MakeMemoryDir(const AgentPaths& paths) {
  FIELDCOST_ASSIGN(MemoryDir memory, FindMemoryDir(paths));
  FIELDCOST_TRY(MakeDirectories(memory.root, 0700));
  // Another process may have created it meanwhile.
  FIELDCOST_TRY(CheckRoot(memory.root));
  FIELDCOST_TRY(MakeDirectories(memory.directory, 0700));
  FIELDCOST_TRY(MakeDirectories(memory.directory / shm::kRunDirectoryName, 0700));
  return memory;
}

std::vector<fs::path> RunDirectories(const AgentPaths& paths) {
  std::vector<fs::path> directories;
  for (const fs::path& root : paths.memory_roots) {
    const auto memory = Check(root, paths);
    if (!memory) continue;
    fs::path runs = memory->directory / shm::kRunDirectoryName;
    if (IsDirectory(runs)) directories.push_back(std::move(runs));
  }
  return directories;
}

}  // namespace fieldcost::settings
