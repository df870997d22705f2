#pragma once

#include "agent/intercept/called_slots.h"
#include "agent/intercept/elf_object.h"
#include "agent/intercept/slots.h"

namespace fieldcost::intercept {

// What is known of the program, too big for every process to carry. Filled and read by this folder
// alone, under the patch lock or in the constructor, but for looks at `objects`.
struct Tables {
  ElfObject objects[kMaxObjects];         // objects.cc
  PatchedSlot patched[kMaxPatchedSlots];  // slots.cc
  CalledSlotTables called;                // called_slots.cc
};

// Zeroed memory that the user gives before anything else of this folder is called; it stays as long
// as a slot may be patched.
extern Tables* tables;

}  // namespace fieldcost::intercept
