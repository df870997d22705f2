#include "agent/intercept/every_call.h"

#include "agent/intercept/hooks.h"
#include "agent/intercept/hosts.h"
#include "agent/intercept/notice.h"
#include "agent/intercept/objects.h"
#include "agent/intercept/tables.h"
#include "agent/intercept/wrappers.h"

extern "C" __attribute__((visibility("hidden"))) char fieldcost_process[];

namespace fieldcost::intercept {

uint32_t target_count;

static_assert(offsetof(TargetName, address) == 0);

namespace {

// Restores the slots in objects loaded by dlopen, and drops names that are in such objects.
void LeaveObjects() {
  LeaveDynamicObjects(target_count, [](uint32_t thunk) {
    auto* const target = reinterpret_cast<TargetName*>(
        fieldcost_process + uint64_t{thunk} * FIELDCOST_TARGET_ENTRY_BYTES);
    target->module = target->symbol = target->version = nullptr;
  });
}

void TakeIn(const SlotSpace& space, uint32_t first_new) {
  DescribeObjects(first_new);
  if (KeepsRecords() && HasCollector(first_new)) return Detach();
  LookForStackCopier(first_new);
  InstallWrappersAgain(space, first_new);
  StandBeforeCalls(space, first_new);
}

}  // namespace

bool MakeTables() {
  tables = MapArray<Tables>(1);
  return tables != nullptr && KnowHost();
}

bool MayIntercept(bool data_slots, bool keeps_records) {
  ListObjectsAtStart(data_slots);
  if (HasSanitizer() || (keeps_records && HasCollector(0))) return false;
  LookForStackCopier(0);
  return true;
}

void InterceptNotices() { InstallWrappersInSlots(kNotices, kFirstWaitNotice, Objects(true), 0); }

void OnSandbox() { Detach(); }

__attribute__((cold, noinline)) void OnLibraryLoaded(void* handle) {
  if (__atomic_load_n(&host.detached, __ATOMIC_RELAXED) != 0) return;
  TakeInLibrary(handle, LeaveObjects, TakeIn);
}

__attribute__((cold, noinline)) void OnLibraryMayGo() { LeaveLibrary(LeaveObjects); }

void OnWait() {}

}  // namespace fieldcost::intercept
