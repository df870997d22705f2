// The functions that agent/intercept requires from its user, for probe points.
#include "agent/intercept/hooks.h"

#include "agent/intercept/hosts.h"
#include "agent/intercept/objects.h"
#include "agent/intercept/wrappers.h"
#include "agent/probe_preload/modules.h"
#include "agent/probe_preload/probe_plan_reader.h"
#include "agent/probe_preload/probe_process.h"
#include "agent/probe_preload/probe_run.h"
#include "agent/probe_preload/probe_targets.h"

namespace fieldcost::intercept {

using probe_preload::process;

namespace {

void TakeIn(const SlotSpace& space, uint32_t first_new) {
  if (probe_preload::PlanTakesReturns() && HasCollector(first_new)) return probe_preload::Detach();
  if (HasStackCopier(first_new)) process.never_reuse = 1;
  probe_preload::AddModules(first_new);
  InstallWrappersAgain(space, first_new);
  probe_preload::StandBeforeCalls(space, first_new);
}

}  // namespace

uint64_t TargetOfThunk(uint32_t thunk) { return process.targets[thunk].address; }

void OnSandbox() { probe_preload::Detach(); }

__attribute__((cold, noinline)) void OnLibraryLoaded(void* handle) {
  if (process.detached != 0) return;
  TakeInLibrary(handle, probe_preload::LeaveDynamicObjects, TakeIn);
}

__attribute__((cold, noinline)) void OnLibraryMayGo() {
  LeaveLibrary(probe_preload::LeaveDynamicObjects);
}

// Probe points do not need these.
void OnAllocation(size_t, uint64_t) {}
bool StopCountingAllocations() { return false; }
void CountAllocationsAgain() {}
void OnTransfer(int, int, uint64_t) {}
void OnFileMapped(int, uint32_t) {}
void OnWait() {}

}  // namespace fieldcost::intercept
