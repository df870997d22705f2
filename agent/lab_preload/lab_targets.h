#pragma once

#include <stdint.h>

#include "agent/intercept/elf_object.h"
#include "agent/intercept/slots.h"
#include "agent/lab_preload/lab_process.h"

namespace fieldcost::lab_preload {

// The functions that the program's calls lead to, and which of them are measured. All functions
// except ProviderOf REQUIRE the patch lock or the constructor.

// Creates targets for the functions that slots in the objects from `first_object` on lead to if the
// plan's globs match, and redirects these slots to the targets' stubs unless the plan leaves them
// alone.
void StandBeforeCalls(const intercept::SlotSpace& space, uint32_t first_object);

// Restores the slots in objects loaded by dlopen, and drops names that are in such objects.
void LeaveDynamicObjects();

// Returns the loaded object that provides the target; null if unknown.
const intercept::ElfObject* ProviderOf(const Target& target);

}  // namespace fieldcost::lab_preload
