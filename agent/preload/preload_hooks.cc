// The functions that agent/intercept requires from its user, for a measured run.
#include "agent/intercept/hooks.h"

#include "agent/intercept/io_wrappers.h"
#include "agent/intercept/x86_64/machine.h"
#include "agent/preload/measuring_run.h"
#include "agent/preload/picks.h"
#include "agent/preload/process_state.h"

namespace fieldcost::intercept {

using preload::process;

void OnSandbox() { preload::DetachForGood(shm::Skip::kSandboxed); }

void OnFileMapped(int fd, uint32_t reasons) {
  if (!preload::IsAttached() || KindOfFile(fd) != FileKind::kDisk) return;
  preload::AddNotMeasuredOfAll(reasons);
}

void OnLibraryLoaded(void* handle) { preload::OnLibraryLoaded(handle); }

void OnLibraryMayGo() { preload::OnLibraryMayGo(); }

void OnWait() {
  if (const uint64_t now = ReadTimeStamp(); now >= process.look_at) {
    preload::EndPhaseAndRedraw(now);
  }
}

}  // namespace fieldcost::intercept
