#include "agent/preload/memory_directory.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "agent/intercept/mapped_memory.h"
#include "agent/intercept/text_builder.h"
#include "agent/intercept/x86_64/machine.h"

namespace fieldcost::preload {
namespace {

using intercept::SystemCall;

// The host's stack may be small; see measuring_run.h.
char path[intercept::kMaxPath];

int64_t OpenAt(int64_t directory, const char* name, int flags) {
  return SystemCall(SYS_openat, static_cast<uint64_t>(directory), reinterpret_cast<uint64_t>(name),
                    static_cast<uint64_t>(flags | O_NOFOLLOW | O_CLOEXEC), 0600);
}

int64_t Close(int64_t fd) { return SystemCall(SYS_close, static_cast<uint64_t>(fd)); }

bool IsOurs(int64_t fd) {
  struct stat found;
  return fstat(static_cast<int>(fd), &found) == 0 && S_ISDIR(found.st_mode) &&
         found.st_uid == static_cast<uint32_t>(SystemCall(SYS_geteuid)) &&
         (found.st_mode & 077) == 0;
}

void MakeDirectory(int64_t parent, const char* name) {
  const auto at = static_cast<uint64_t>(parent);
  const auto address = reinterpret_cast<uint64_t>(name);
  // The program's umask may remove too many bits.
  if (SystemCall(SYS_mkdirat, at, address, 0700) == 0) {
    SystemCall(SYS_fchmodat, at, address, 0700);
  }
}

// Opens the part of the memory directory that is checked; returns a negative number if it cannot be
// used.
int64_t OpenRoot(const shm::PolicyHeader& policy, bool make) {
  if (policy.memory_root_bytes == 0 || policy.memory_root_bytes >= sizeof path) return -ENOENT;
  memcpy(path, policy.memory_dir, policy.memory_root_bytes);
  path[policy.memory_root_bytes] = '\0';
  int64_t root = OpenAt(AT_FDCWD, path, O_PATH | O_DIRECTORY);
  if (root == -ENOENT && make) {
    MakeDirectory(AT_FDCWD, path);
    root = OpenAt(AT_FDCWD, path, O_PATH | O_DIRECTORY);
  }
  if (root < 0) return root;
  if (IsOurs(root) && intercept::CannotFault(root)) return root;
  Close(root);
  return -EPERM;
}

// Creates the parent directories of `path`, relative to the root.
void MakeParents(int64_t root) {
  for (char* at = path; *at != '\0'; ++at) {
    if (*at != '/') continue;
    *at = '\0';
    MakeDirectory(root, path);
    *at = '/';
  }
}

}  // namespace

int64_t OpenInMemory(const RunRequest& request, const char* name, int flags) {
  const shm::PolicyHeader& policy = request.policy;
  const bool make = (flags & (O_CREAT | O_DIRECTORY)) != 0;
  const int64_t root = OpenRoot(policy, make);
  if (root < 0) return root;
  const char* below = policy.memory_dir + policy.memory_root_bytes;
  while (*below == '/') ++below;
  intercept::TextBuilder builder(path, sizeof path);
  builder.Add(below).Add(*below == '\0' ? "" : "/").Add(name);
  int64_t fd = builder.ok() ? OpenAt(root, path, flags) : -ENAMETOOLONG;
  if (fd == -ENOENT && make) {
    MakeParents(root);
    if ((flags & O_DIRECTORY) == O_DIRECTORY) MakeDirectory(root, path);
    fd = OpenAt(root, path, flags);
  }
  Close(root);
  if (fd < 0 || intercept::CannotFault(fd)) return fd;
  Close(fd);
  return -EPERM;
}

}  // namespace fieldcost::preload
