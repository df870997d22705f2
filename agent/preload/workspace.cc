#include "agent/preload/workspace.h"

#include <sys/mman.h>
#include <sys/resource.h>

namespace fieldcost::preload {

Workspace* workspace;

namespace {

// A program limited to less address space or memory than this is left alone.
constexpr uint64_t kLeastSpace = uint64_t{1} << 30;

bool IsBelow(__rlimit_resource resource, uint64_t least) {
  rlimit limit = {};
  return getrlimit(resource, &limit) != 0 || limit.rlim_cur < least;
}

}  // namespace

bool MakeWorkspace() {
  if (IsBelow(RLIMIT_AS, kLeastSpace) || IsBelow(RLIMIT_DATA, kLeastSpace)) return false;
  void* const mapped = mmap(nullptr, sizeof(Workspace), PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) return false;
  workspace = static_cast<Workspace*>(mapped);
  return true;
}

void DropWorkspace() {
  munmap(workspace, sizeof(Workspace));
  workspace = nullptr;
}

}  // namespace fieldcost::preload
