#pragma once

#include <stdint.h>

#include "agent/preload/candidates.h"

namespace fieldcost::preload {

// The loaded objects we know of: those there at the start, which stay, and those dlopen brought and
// dlsym was asked about. Changed under the patch lock only.

// For the constructor.
void ListObjectsAtStart(bool data_too);
SlotSpace Objects(bool may_ask_loader);

// True if a handle of dlopen stands for an object we know, or for none at all.
bool IsKnownHandle(void* handle);

// Adds the object that a handle stands for, and those that its bound slots lead to. False if there
// is nothing to add.
bool AddObjectsOf(void* handle);

bool HasDynamicObjects();
bool IsInDynamicObject(uint64_t address);
void RemoveDynamicObjects();

}  // namespace fieldcost::preload
