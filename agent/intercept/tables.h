#pragma once

#include "agent/intercept/called_slots.h"
#include "agent/intercept/elf_object.h"
#include "agent/intercept/slots.h"

namespace fieldcost::intercept {

// Data about the program, too large for every process to carry. Used only by this folder, under the
// patch lock or in the constructor, except that `objects` may be read at any time.
struct Tables {
  ElfObject objects[kMaxObjects];         // objects.cc
  PatchedSlot patched[kMaxPatchedSlots];  // slots.cc
  CalledSlotTables called;                // called_slots.cc
};

// Zeroed memory, set by the user before calling anything else in this folder. It must live as long
// as a slot may be patched.
extern Tables* tables;

}  // namespace fieldcost::intercept
