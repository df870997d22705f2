#pragma once

#include <stdint.h>

#include "agent/intercept/slots.h"
#include "agent/probe_preload/probe_process.h"

namespace fieldcost::probe_preload {

// Functions with points, as far as slots lead to them. The first two REQUIRE the patch lock, or the
// constructor.

// Makes targets of what slots in the objects from `first_object` on lead to, and points these slots
// at their stubs.
void StandBeforeCalls(const intercept::SlotSpace& space, uint32_t first_object);

// Slots in objects that dlopen brought are theirs again, and names in such objects are forgotten.
void LeaveDynamicObjects();

// Replaces main's address, an argument, by that of a stub.
void StandBeforeMain(uint64_t* main_address);

// Leaves the output functions alone from now on, unless another thread changes slots: the first
// output has been seen.
void LeaveOutputFunctions();

}  // namespace fieldcost::probe_preload
