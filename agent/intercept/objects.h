#pragma once

#include <stdint.h>

#include "agent/intercept/slots.h"
#include "agent/intercept/wrappers.h"

namespace fieldcost::intercept {

// The known loaded objects: the program's own, which stay, and those that were loaded by dlopen,
// either in a constructor before ours or found by a call of dlsym. Changed only under the patch
// lock.

// Called by the constructor.
void ListObjectsAtStart(bool data_too);
SlotSpace Objects(bool may_ask_loader);

// Returns true if a dlopen handle belongs to a known object or to none at all.
bool IsKnownHandle(void* handle);

// Adds the object of a handle, and those that its bound slots lead to. Returns false if there is
// nothing to add.
bool AddObjectsOf(void* handle);

// Returns false for libraries loaded by dlmopen: their calls lead to separate libraries with the
// same names.
bool IsInThisNamespace(void* handle);

bool HasDynamicObjects();
bool IsAnyDynamicObjectGone();
bool IsInDynamicObject(uint64_t address);
void RemoveDynamicObjects();

// Common implementation of OnLibraryLoaded, under the patch lock: calls leave() if an object loaded
// by dlopen is gone; then, if the handle leads to new objects, take_in(space, first_new), where
// `first_new` is the first of them.
template <typename Leave, typename TakeIn>
void TakeInLibrary(void* handle, Leave leave, TakeIn take_in) {
  if (IsKnownHandle(handle)) return;
  const PatchLock lock;
  if (!lock.held() || !IsInThisNamespace(handle)) return;
  if (IsAnyDynamicObjectGone()) leave();
  const uint32_t first_new = Objects(false).object_count;
  if (AddObjectsOf(handle)) take_in(Objects(false), first_new);
}

// Common implementation of OnLibraryMayGo: calls leave() under the patch lock if there are objects
// loaded by dlopen.
template <typename Leave>
void LeaveLibrary(Leave leave) {
  if (!HasDynamicObjects()) return;
  const PatchLock lock(PatchLock::Patience::kWait);
  if (lock.held()) leave();
}

// Forgets the objects loaded by dlopen: restores the slots in them, and calls forget(thunk) for
// each of the first `thunk_count` thunks that intercepts a function there. REQUIRES: the patch
// lock.
template <typename Forget>
void LeaveDynamicObjects(uint32_t thunk_count, Forget forget) {
  GiveBackDynamicSlots();
  for (uint32_t thunk = 0; thunk < thunk_count; ++thunk) {
    if (IsInDynamicObject(RealOf(TargetOfThunk(thunk)))) forget(thunk);
  }
  RemoveDynamicObjects();
}

}  // namespace fieldcost::intercept
