#pragma once

#include <stdint.h>

namespace fieldcost::probe_preload {

// Functions with points, where slots lead to them. Targets are made of them by
// intercept::StandBeforeCalls.

// Reports to the reader of this process's new file which points were placed before.
void KeepPlaced();

// Replaces main's address, an argument, with that of a stub.
void StandBeforeMain(uint64_t* main_address);

// Stops intercepting output functions, since the first output has been seen. Does nothing if
// another thread is changing slots.
void LeaveOutputFunctions();

}  // namespace fieldcost::probe_preload
