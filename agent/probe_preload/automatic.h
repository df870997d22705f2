#pragma once

#include <stdint.h>

#include "agent/probe_preload/probe_process.h"

namespace fieldcost::probe_preload {

// Points that need not be named in the plan; all belong to the process's own event.

// The condition on a call's arguments for the call to count.
enum Look : uint8_t {
  kAlways = 0,
  kDescriptor = 1,  // the first argument is descriptor 1 or 2
  kFile1 = 2,       // the first argument is stdout or stderr; likewise below
  kFile2 = 3,
  kFile4 = 4,
  kStartsMain = 5,  // __libc_start_main, whose first argument is main
  kMain = 6,        // main itself: its call is a point, and so is its return
};

struct AutomaticFunction {
  const char* name;
  uint8_t point;  // shm::ProbeAutomatic bit
  uint8_t look;
};

// Returns the function of that name if the plan enables its point; null otherwise.
const AutomaticFunction* AutomaticCalled(const char* name);

// Handles a call of a target with an automatic point. `return_slot` is the thunk's; the arguments
// are stored below it (probe_thunk_handlers.cc).
void PassBeforeCall(const Target& target, uint64_t* return_slot);

// Records a point of the process, only once if the point requires that. Does nothing in a child of
// fork() without a run of its own, or in a child of vfork().
void PassAutomatic(shm::ProbeAutomatic point);

// Records the exit unless it was already recorded.
void PassExit();

}  // namespace fieldcost::probe_preload
