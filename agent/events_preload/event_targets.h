#pragma once

#include <stdint.h>

#include "agent/events_preload/event_process.h"
#include "agent/intercept/slots.h"

namespace fieldcost::events_preload {

// The APIs that the plan's globs name, where slots lead to them. The first two functions REQUIRE
// the patch lock or the constructor.

// Makes targets of the APIs that slots in the objects from `first_object` on lead to, and redirects
// these slots to the targets' stubs.
void StandBeforeCalls(const intercept::SlotSpace& space, uint32_t first_object);

// Restores the slots in objects loaded by dlopen, and forgets names that lie in such objects.
void LeaveDynamicObjects();

// Adds the API to the arena, once. Called at its first call.
void Describe(uint32_t api);

}  // namespace fieldcost::events_preload
