// The functions that agent/intercept requires from its user, for event trees.
#include "agent/intercept/hooks.h"

#include "agent/events_preload/event_process.h"
#include "agent/events_preload/event_targets.h"
#include "agent/intercept/hidden_io.h"
#include "agent/intercept/hosts.h"
#include "agent/intercept/objects.h"
#include "agent/intercept/wrappers.h"

namespace fieldcost::intercept {

using events_preload::process;

namespace {

void Detach() {
  __atomic_store_n(events_preload::fieldcost_attached, 0, __ATOMIC_SEQ_CST);
  process.header->attached = 0;
}

void TakeIn(const SlotSpace& space, uint32_t first_new) {
  fieldcost_hidden_io |= shm::kAllocInLoader;  // until the next event, which records it
  const bool takes_calls = events_preload::Takes(shm::kTraceCalls);
  if (takes_calls && HasCollector(first_new)) return Detach();
  if (HasStackCopier(first_new)) process.never_reuse = 1;
  InstallWrappersAgain(space, first_new);
  if (takes_calls) events_preload::StandBeforeCalls(space, first_new);
}

}  // namespace

uint64_t TargetOfThunk(uint32_t thunk) { return process.targets[thunk].address; }

void OnSandbox() { Detach(); }

__attribute__((cold, noinline)) void OnLibraryLoaded(void* handle) {
  TakeInLibrary(handle, events_preload::LeaveDynamicObjects, TakeIn);
}

__attribute__((cold, noinline)) void OnLibraryMayGo() {
  LeaveLibrary(events_preload::LeaveDynamicObjects);
}

void OnWait() {}

}  // namespace fieldcost::intercept
