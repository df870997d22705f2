#include "agent/preload/preload_workspace.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "agent/intercept/mapped_memory.h"
#include "agent/intercept/x86_64/machine.h"

namespace fieldcost::preload {

Workspace* workspace;

namespace {

// A program limited to less address space or memory than this is left alone.
constexpr uint64_t kLeastSpace = uint64_t{1} << 30;

}  // namespace

uint64_t LimitOf(int resource) {
  rlimit limit = {};
  return intercept::SystemCall(SYS_getrlimit, static_cast<uint64_t>(resource),
                               reinterpret_cast<uint64_t>(&limit)) == 0
             ? limit.rlim_cur
             : 0;
}

bool MakeWorkspace() {
  if (LimitOf(RLIMIT_AS) < kLeastSpace || LimitOf(RLIMIT_DATA) < kLeastSpace) return false;
  workspace = static_cast<Workspace*>(intercept::MapPrivate(sizeof(Workspace)));
  if (workspace == nullptr) return false;
  intercept::tables = &workspace->tables;
  return true;
}

void DropWorkspace() {
  munmap(workspace, sizeof(Workspace));
  workspace = nullptr;
  intercept::tables = nullptr;
}

}  // namespace fieldcost::preload
