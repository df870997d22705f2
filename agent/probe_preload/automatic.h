#pragma once

#include <stdint.h>

#include "agent/probe_preload/probe_process.h"

namespace fieldcost::probe_preload {

// Points that are placed without being named; all belong to the process's own event.

// The condition on a call's arguments for the call to count.
enum Look : uint8_t {
  kAlways = 0,
  kDescriptor = 1,  // the first is descriptor 1 or 2
  kFile1 = 2,       // stdout or stderr, the first
  kFile2 = 3,
  kFile4 = 4,
  kStartsMain = 5,  // __libc_start_main, whose first is main
  kMain = 6,        // main itself: begins, and returns to exit
};

struct AutomaticFunction {
  const char* name;
  uint8_t point;  // shm::ProbeAutomatic bit
  uint8_t look;
};

// Returns the one of that name if the plan enables it; null otherwise.
const AutomaticFunction* AutomaticCalled(const char* name);

// A call of a target with an automatic point. `return_slot` as of the thunk, below which lie the
// arguments (thunk_handlers.cc).
void PassBeforeCall(const Target& target, uint64_t* return_slot);

// Passes a point of the process, at most once if the point requires that. Does nothing in a child
// of fork() without a run of its own, nor in one of vfork().
void PassAutomatic(shm::ProbeAutomatic point);

// Records the end, if it was not recorded yet.
void PassExit();

}  // namespace fieldcost::probe_preload
