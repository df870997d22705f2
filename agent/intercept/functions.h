#pragma once

#include <stdint.h>

#include "agent/intercept/elf_object.h"
#include "agent/intercept/slots.h"

namespace fieldcost::intercept {

// A function that a slot leads to. Points into its provider's memory.
struct Function {
  const ElfObject* provider;
  const char* module;  // its soname, else its file's name; "" for the program itself
  const char* symbol;
  const char* version;
  uint64_t target;
  uint64_t code_begin;  // both 0 if the function's extent is unknown (IFUNC)
  uint64_t code_end;
};

// Returns whether both have the same name, version and address.
bool IsSameFunction(const Function& one, const Function& other);

// Returns false for functions that no thunk may intercept: they return twice or never, or inspect
// their caller.
bool MayBeStoodBefore(const char* symbol);

// Resolves a slot to a function. Returns false if the slot leads nowhere, to data, or to a function
// that no thunk may intercept.
bool FollowSlot(const SlotSpace& space, const ElfObject& importer, const Elf64_Rela& relocation,
                const uint64_t* slot, Function* function);

}  // namespace fieldcost::intercept
