#pragma once

#include <stddef.h>
#include <stdint.h>

#include "agent/preload/preload_policy.h"

namespace fieldcost::preload {

// Controls what this process measures, and for how long. A phase begins with a pick and ends after
// the policy's time; then the lease is given back, the coin is tossed again, and other functions
// may be picked. This happens inside calls that the program makes anyway: of picked functions and
// of functions that wait (agent/intercept/notice.h). Nothing here blocks: if another thread is
// already at work, the caller continues. Functions called from here run on one thread at a time (or
// in the constructor) and may keep large objects in static memory: the host's stack may be small.

// Begins the first phase: picks, takes a lease, creates the run file, patches. Called by the
// constructor. `request` must outlive the run. Returns kNoSkip, or why nothing can be measured.
shm::Skip BeginRun(RunRequest* request, uint64_t random);

// Does what is due at this time stamp: ends the phase and picks anew.
void EndPhaseAndRedraw(uint64_t now);

// Called when a watched function is called (sightings.h). Returns its pick, old or new; kNoPick if
// it is not picked.
uint32_t SeeFirstCall(uint32_t thunk);

// Called when measuring a pick costs too much: SamplePick times only one in 2^sampling_log2 calls,
// DropPick ends the pick.
void SamplePick(uint32_t pick, uint32_t sampling_log2);
void DropPick(uint32_t pick);

// Stops measuring permanently: the process is about to become one that must be left alone.
void DetachForGood(shm::Skip reason);

// Called when the program looks up a symbol in a library loaded by dlopen: includes that library
// from now on.
void OnLibraryLoaded(void* handle);

// Called when a library loaded by dlopen may be unloaded: restores all slots of such objects and
// ends the picks that are defined in one.
void OnLibraryMayGo();

}  // namespace fieldcost::preload
