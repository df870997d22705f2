#pragma once

#include <stdint.h>

#include "agent/preload/candidates.h"

namespace fieldcost::preload {

// The process's picks, past and present: process.picks and their descriptions in the run file. All
// functions REQUIRE the patch lock or the constructor.

// Makes a pick of a candidate, or resumes a suspended one of the same API; its slots are not
// patched yet. Returns false if there is no room.
bool AddPick(const Candidate& candidate, uint32_t sampling_log2);

// Patches the slots, in the space's objects from `first_object` on, that lead to active picks.
void PatchPicks(const intercept::SlotSpace& space, uint32_t first_object);

// Makes a pick of a candidate whose slots lead to the stubs of thunk `watching`, and redirects them
// to the pick's. Returns its index; kNoPick, with nothing changed, if there is no room.
uint32_t AddSightedPick(const Candidate& candidate, uint32_t sampling_log2, uint32_t watching);

// Restores the pick's slots; calls in progress are still recorded. Does nothing if the pick has
// already ended.
void EndPick(uint32_t pick, uint32_t phase);

// Does the same temporarily: a function picked by name may be loaded again.
void SuspendPick(uint32_t pick);

void SetSampling(uint32_t pick, uint32_t sampling_log2);

bool IsActivePick(uint32_t pick);
bool IsAnyPickActive();
// Returns the active pick that was drawn first; kNoPick if none.
uint32_t FirstActivePick();

// Removes from `picks` those that are already being measured; returns how many are left.
uint32_t RemoveKnownPicks(Picks* picks);

// Marks these bytes as not measured (shm::NotMeasured) for all present and future picks. Callable
// from any thread at any time.
void AddNotMeasuredOfAll(uint32_t reasons);

}  // namespace fieldcost::preload
