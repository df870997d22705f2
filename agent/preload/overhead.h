#pragma once

#include <stdint.h>

#include "agent/preload/measuring.h"

namespace fieldcost::preload {

// What measuring costs, and what is done when it is too much: a thread earns credit with its CPU
// time (the policy's share of it) and pays with what its measured calls cost. Who runs out of
// credit makes the pick sampled, of twice as many calls each time, until counting alone would be
// too much: then the pick is dropped.

// Calls a thread times between two looks at its account.
inline constexpr uint32_t kCallsPerCheck = 1024;

// Opens a thread's account.
void StartCostAccount(ThreadState* thread);

// Settles the account for kCallsPerCheck timed calls; `pick` is the one called last.
void CheckCost(ThreadState* thread, uint32_t pick);

// A call of a sampled pick has run out its gap: draws the next, see gaps.h. Does nothing if another
// call has drawn it since. REQUIRES: the thread has counters.
void DrawGap(ThreadState* thread, uint32_t pick);

// The same for a call whose thread may have no counters yet, and the weight of that call. False
// (and counted as lost) if there cannot be counters.
bool EndGap(ThreadState* thread, uint32_t pick, uint32_t* weight_log2);

}  // namespace fieldcost::preload
