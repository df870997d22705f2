// The lab's implementation of the hooks of agent/intercept.
#include "agent/intercept/hooks.h"

#include "agent/intercept/hosts.h"
#include "agent/intercept/objects.h"
#include "agent/intercept/wrappers.h"
#include "agent/lab_preload/io_meter.h"
#include "agent/lab_preload/lab_process.h"
#include "agent/lab_preload/lab_targets.h"

namespace fieldcost::intercept {

using lab_preload::process;

namespace {

void Detach() {
  __atomic_store_n(lab_preload::fieldcost_attached, 0, __ATOMIC_SEQ_CST);
  process.header->attached = 0;
}

// Marks the calls that load a library: memory that the loader allocates for it is not measured.
void NoteLoading() {
  lab_preload::ThreadState* const thread = lab_preload::fieldcost_current_thread;
  if (process.mode != shm::kLabMap || thread == nullptr) return;
  lab_preload::NotMeasured(thread, kNoThunk, shm::kAllocInLoader);
}

void TakeIn(const SlotSpace& space, uint32_t first_new) {
  NoteLoading();
  if (HasCollector(first_new)) return Detach();
  if (HasStackCopier(first_new)) process.never_reuse = 1;
  InstallWrappersAgain(space, first_new);
  lab_preload::StandBeforeCalls(space, first_new);
}

}  // namespace

uint64_t TargetOfThunk(uint32_t thunk) { return process.targets[thunk].address; }

void OnSandbox() { Detach(); }

__attribute__((cold, noinline)) void OnLibraryLoaded(void* handle) {
  TakeInLibrary(handle, lab_preload::LeaveDynamicObjects, TakeIn);
}

__attribute__((cold, noinline)) void OnLibraryMayGo() {
  LeaveLibrary(lab_preload::LeaveDynamicObjects);
}

void OnWait() {}

}  // namespace fieldcost::intercept
