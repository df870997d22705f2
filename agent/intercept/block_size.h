#pragma once

#include <stddef.h>
#include <stdint.h>

#include "agent/intercept/slots.h"

namespace fieldcost::intercept {

// The sizes of the program's blocks, as its allocator provides them: up to some
// bytes more than were requested.

// Installs a wrapper of `free`, which calls SizeOfBlock() and OnFree()
// (hooks.h), and finds the allocator's malloc_usable_size. REQUIRES: as
// InstallWrappers().
void InstallFreeWrapper(const SlotSpace& space);

// Whether sizes are known. A program's own allocator may have no such function,
// and libc's does not know its blocks.
bool KnowsBlockSizes();

// The block's size. REQUIRES: KnowsBlockSizes(), and the block is allocated.
size_t KnownBlockSize(const void* block);

}  // namespace fieldcost::intercept
