#pragma once

#include <stdint.h>

namespace fieldcost::intercept {

// What a thunk itself costs, found with functions of known time. REQUIRES of all: the constructor;
// thunks are ready.

using KnownFunction = uint64_t (*)(uint64_t);

inline constexpr int kCallsInARow = 32;

// Ticks that kCallsInARow calls take, each of which needs the last one's result; in the quickest of
// a few rounds.
uint64_t TicksOfCalls(KnownFunction function);

// What is recorded of a call whose time is known, less that.
struct Bias {
  uint64_t ticks;
  uint64_t spread_ticks;  // distance of the quartiles
};

// `timed` leads through a thunk to fieldcost_known_function; recorded(of) is the sum of ticks that
// has been recorded of its calls so far.
//
// An empty function would not do: a call and its return take some nanoseconds, which run beside
// whatever a real function does. The median of rounds, each the mean of its calls: a minimum would
// be below what most calls have in them, a mean of all would hold interrupts.
Bias MeasureBias(KnownFunction timed, uint64_t (*recorded)(const void*), const void* of);

}  // namespace fieldcost::intercept
