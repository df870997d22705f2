#pragma once

#include <stdint.h>

#include "agent/intercept/slots.h"
#include "agent/probe_preload/probe_process.h"

namespace fieldcost::probe_preload {

// Functions with points, where slots lead to them. The first two REQUIRE the patch lock or the
// constructor.

// Makes targets of the functions with points that slots in the objects from `first_object` on lead
// to, and redirects these slots to the targets' stubs.
void StandBeforeCalls(const intercept::SlotSpace& space, uint32_t first_object);

// Restores the slots in objects loaded by dlopen, and forgets names that lie in such objects.
void LeaveDynamicObjects();

// Replaces main's address, an argument, with that of a stub.
void StandBeforeMain(uint64_t* main_address);

// Stops intercepting output functions, since the first output has been seen. Does nothing if
// another thread is changing slots.
void LeaveOutputFunctions();

}  // namespace fieldcost::probe_preload
