#pragma once

#include <stdint.h>

#include "agent/preload/candidates.h"

namespace fieldcost::preload {

// The process's picks, past and present: process.picks and their descriptions in the run file. All
// functions REQUIRE the patch lock, or the constructor.

// Makes a pick of a candidate, or takes up a suspended one of the same API again; its slots are not
// patched yet. False if there is no room.
bool AddPick(const Candidate& candidate, uint32_t sampling_log2);

// Patches the slots, in the space's objects from `first_object` on, that lead to active picks.
void PatchPicks(const intercept::SlotSpace& space, uint32_t first_object);

// Makes a pick of a candidate whose slots lead to the stubs of thunk `watching`, and makes them
// lead to the pick's. Returns its index; kNoPick, and nothing has changed, if there is no room.
uint32_t AddSightedPick(const Candidate& candidate, uint32_t sampling_log2, uint32_t watching);

// Gives back the pick's slots; calls that are under way are still recorded. Does nothing to a pick
// that has ended.
void EndPick(uint32_t pick, uint32_t phase);

// The same for a time: what was asked for by name may come again.
void SuspendPick(uint32_t pick);

void SetSampling(uint32_t pick, uint32_t sampling_log2);

bool IsActivePick(uint32_t pick);
bool IsAnyPickActive();
// The one that was drawn first; kNoPick if there is none.
uint32_t FirstActivePick();

// Takes out of `picks` what is being measured already; returns how many are left.
uint32_t RemoveKnownPicks(Picks* picks);

// From now on these bytes are not measured of any pick, nor of those to come: shm::NotMeasured. Any
// thread, at any time.
void AddNotMeasuredOfAll(uint32_t reasons);

}  // namespace fieldcost::preload
