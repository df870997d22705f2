#pragma once

#include <stddef.h>
#include <stdint.h>

#include "agent/intercept/slots.h"
#include "agent/intercept/wrapped_function.h"

namespace fieldcost::intercept {

// Points these functions' slots, in the space's objects from `first_object` on, at our wrappers;
// also those that serve function pointers and -fno-plt calls, and words of data that hold the
// functions' addresses (address_words.h) as long as their value is the real function's. The first
// slot found, or else the first word, determines the real function that a wrapper calls (all lead
// to the first definition in search order). Wrappers are permanent: a program may copy their
// addresses. May be called again with more objects. REQUIRES: the patch lock or the constructor.
void InstallWrappers(const WrappedFunction* functions, size_t count, const SlotSpace& space,
                     uint32_t first_object);

// The same without words, which take time to search: for functions whose bytes are not counted.
void InstallWrappersInSlots(const WrappedFunction* functions, size_t count, const SlotSpace& space,
                            uint32_t first_object);

// Installs the wrappers that are already installed in further objects.
void InstallWrappersAgain(const SlotSpace& space, uint32_t first_object);

// Returns the address that calls of this function must use: its wrapper if installed, else itself.
uint64_t WrapperOf(uint64_t real);

// Returns the function that a wrapper or stub intercepts; any other address unchanged.
uint64_t RealOf(uint64_t address);

// Returns the real function that a slot leads to, through our wrappers and stubs; 0 if none.
uint64_t TargetOf(const SlotSpace& space, const ElfObject& importer, const Elf64_Rela& relocation,
                  const uint64_t* slot);

}  // namespace fieldcost::intercept
