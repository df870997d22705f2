#pragma once

#include <stdint.h>

#include "agent/intercept/elf_object.h"
#include "agent/intercept/slots.h"
#include "agent/lab_preload/process.h"

namespace fieldcost::lab_preload {

// What the program's calls lead to, and which of that is measured. All functions but ProviderOf
// REQUIRE the patch lock, or the constructor.

// Makes targets of what slots in the objects from `first_object` on lead to, as far as the plan's
// globs allow, and points these slots at their stubs, unless the plan leaves them alone.
void StandBeforeCalls(const intercept::SlotSpace& space, uint32_t first_object);

// Slots in objects that dlopen brought are theirs again, and names in such objects are forgotten.
void LeaveDynamicObjects();

// The loaded object that the target is of; null if it cannot be told.
const intercept::ElfObject* ProviderOf(const Target& target);

}  // namespace fieldcost::lab_preload
