#pragma once

#include <stdint.h>

namespace fieldcost::probe_preload {

// What is loaded, for who names stacks. A private copy is kept, with which a child of fork() begins
// its file.

// Writes down the objects that we know of from number `first_object` on. REQUIRES: the patch lock,
// or the constructor.
void AddModules(uint32_t first_object);

// Writes what is known into this process's new file.
void KeepModules();

}  // namespace fieldcost::probe_preload
