#pragma once

#include <stdint.h>

#include "agent/preload/measuring.h"

namespace fieldcost::preload {

// Limits the cost of measuring: a thread earns credit with its CPU time (the policy's share of it)
// and pays the cost of its measured calls. When a thread runs out of credit, the pick is sampled,
// halving the rate each time, until counting alone would cost too much: then the pick is dropped.

// Number of timed calls of a thread between two settlements of its account.
inline constexpr uint32_t kCallsPerCheck = 1024;

// Opens a thread's account.
void StartCostAccount(ThreadState* thread);

// Settles the account for kCallsPerCheck timed calls; `pick` is the one called most recently.
void SettleCost(ThreadState* thread, uint32_t pick);

// Draws the next gap after a call of a sampled pick has exhausted the last one (gaps.h). Does
// nothing if another call has drawn it since. REQUIRES: the thread has counters.
void DrawGap(ThreadState* thread, uint32_t pick);

// Does the same for a call whose thread may have no counters yet, and sets the weight of that call.
// Returns false (and counts a lost call) if counters cannot be allocated.
bool EndGap(ThreadState* thread, uint32_t pick, uint32_t* weight_log2);

}  // namespace fieldcost::preload
