#pragma once

#include <stdint.h>

#include "agent/intercept/hooks.h"
#include "agent/intercept/slots.h"
#include "agent/intercept/wrappers.h"

namespace fieldcost::intercept {

// The loaded objects we know of: the program's own, which stay, and those dlopen brought, in a
// constructor before ours or when dlsym was asked about them. Changed under the patch lock only.

// Called by the constructor.
void ListObjectsAtStart(bool data_too);
SlotSpace Objects(bool may_ask_loader);

// True if a handle of dlopen stands for an object we know, or for none at all.
bool IsKnownHandle(void* handle);

// Adds the object that a handle stands for, and those that its bound slots lead to. False if there
// is nothing to add.
bool AddObjectsOf(void* handle);

// False for what dlmopen brings: its calls lead to libraries of its own, of the same names.
bool IsInThisNamespace(void* handle);

bool HasDynamicObjects();
bool IsAnyDynamicObjectGone();
bool IsInDynamicObject(uint64_t address);
void RemoveDynamicObjects();

// What every library does for OnLibraryLoaded, under the patch lock: `leave()` what dlopen brought
// if some of it is gone; then, if the handle stands for something new, `take_in(space, first_new)`:
// the objects from that one on.
template <typename Leave, typename TakeIn>
void TakeInLibrary(void* handle, Leave leave, TakeIn take_in) {
  if (IsKnownHandle(handle)) return;
  const PatchLock lock;
  if (!lock.held() || !IsInThisNamespace(handle)) return;
  if (IsAnyDynamicObjectGone()) leave();
  const uint32_t first_new = Objects(false).object_count;
  if (AddObjectsOf(handle)) take_in(Objects(false), first_new);
}

// What every library does for OnLibraryMayGo, under the patch lock: `leave()` what dlopen brought.
template <typename Leave>
void LeaveLibrary(Leave leave) {
  if (!HasDynamicObjects()) return;
  const PatchLock lock(PatchLock::Patience::kWait);
  if (lock.held()) leave();
}

// How a library leaves what dlopen brought: slots there are as they were, the objects are not known
// any more, and `forget(thunk)` is called for those of the first `thunk_count` thunks that stand in
// front of a function there. REQUIRES: the patch lock.
template <typename Forget>
void LeaveDynamicObjects(uint32_t thunk_count, Forget forget) {
  GiveBackDynamicSlots();
  for (uint32_t thunk = 0; thunk < thunk_count; ++thunk) {
    if (IsInDynamicObject(RealOf(TargetOfThunk(thunk)))) forget(thunk);
  }
  RemoveDynamicObjects();
}

}  // namespace fieldcost::intercept
