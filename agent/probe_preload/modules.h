#pragma once

#include <stdint.h>

namespace fieldcost::probe_preload {

// The loaded modules, for resolving stacks. Keeps a private copy, from which a child of fork()
// starts its own file.

// Records the known objects from number `first_object` on. REQUIRES: the patch lock or the
// constructor.
void AddModules(uint32_t first_object);

// Writes the recorded modules to this process's new file.
void KeepModules();

}  // namespace fieldcost::probe_preload
