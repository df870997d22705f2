#pragma once

#include <stdint.h>

#include "agent/intercept/elf_object.h"

namespace fieldcost::intercept {

// Of the object's first part with code: place in the file less virtual address. Its first page,
// which is looked at, is mapped by every linker's layout; 0 if it does not look like that.
uint64_t CodeOffsetOf(const ElfObject& object);

}  // namespace fieldcost::intercept
