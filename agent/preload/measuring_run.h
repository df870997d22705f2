#pragma once

#include <stddef.h>
#include <stdint.h>

#include "agent/preload/policy.h"

namespace fieldcost::preload {

// What this process measures, and for how long. A phase begins with a pick and ends after the
// policy's time; then the lease is given back, the coin is thrown again, and perhaps others are
// picked. That happens inside calls the program makes anyway: of picked functions, and of functions
// that wait (agent/intercept/notice.h). Nobody ever waits here: who finds another thread at it goes
// on. Whatever is called from here is called by one thread at a time (or by the constructor), and
// may keep big things in static memory: the host's stack may be small.

// Begins the first phase: picks, takes a lease, makes the run file, patches. For the constructor.
// `request` must stay. Says why if nothing can be measured, else kNoSkip.
shm::Skip BeginRun(Request* request, uint64_t random);

// Does what is due at this time stamp: ends the phase, and picks anew.
void EndPhaseAndRedraw(uint64_t now);

// A watched function is called (sightings.h). Returns the pick that it has become, or that it is;
// kNoPick if it is none.
uint32_t SeeFirstCall(uint32_t thunk);

// What measuring a pick costs too much: times only one in 2^sampling_log2 calls; gives it up.
void SamplePick(uint32_t pick, uint32_t sampling_log2);
void DropPick(uint32_t pick);

// The process is about to become one that we leave alone: it measures no more.
void DetachForGood(shm::Skip reason);

// The program asks for a symbol of something dlopen brought: that takes part from now on.
void OnLibraryLoaded(void* handle);

// Something that dlopen brought may go: no slot of such objects is ours any more, and a pick that
// lives in one has ended.
void OnLibraryMayGo();

}  // namespace fieldcost::preload
