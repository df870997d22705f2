#pragma once

#include <stdint.h>

#include "agent/intercept/elf_object.h"
#include "agent/intercept/slots.h"

namespace fieldcost::intercept {

// A function that a slot leads to. Points into the memory of its provider.
struct Function {
  const ElfObject* provider;
  const char* module;  // its soname; if it has none, its file's name; "" of the program itself
  const char* symbol;
  const char* version;
  uint64_t target;
  uint64_t code_begin;  // 0..0 if the function's extent is not known (IFUNC)
  uint64_t code_end;
};

// Whether both have one name and version, and lead to the same place.
bool IsSameFunction(const Function& one, const Function& other);

// False for functions that no thunk may stand in front of: they return twice, never, or look at
// who called them.
bool MayBeStoodBefore(const char* symbol);

// Follows a slot to the function it leads to. False if it leads nowhere, to data, or to something
// that no thunk may stand in front of.
bool FollowSlot(const SlotSpace& space, const ElfObject& importer, const Elf64_Rela& relocation,
                const uint64_t* slot, Function* function);

}  // namespace fieldcost::intercept
