#pragma once

#include <stdint.h>

namespace fieldcost::intercept {

// Measures the cost of a thunk itself with functions of known duration. All functions REQUIRE the
// constructor and initialised thunks.

using KnownFunction = uint64_t (*)(uint64_t);

inline constexpr int kCallsInARow = 32;

// Returns the ticks of kCallsInARow dependent calls (each needs the previous result), the minimum
// of a few rounds.
uint64_t TicksOfCalls(KnownFunction function);

// The recorded time of a call of known duration minus that duration.
struct Bias {
  uint64_t ticks;
  uint64_t spread_ticks;  // interquartile range
};

// `timed` leads through a thunk to fieldcost_known_function; recorded(of) is the sum of ticks
// recorded for its calls so far.
//
// An empty function is unsuitable: its call and return take some nanoseconds that overlap with the
// work of a real function. The result is the median of rounds, each the mean of its calls: a
// minimum would be below most calls' overhead, and a mean over all would include interrupts.
Bias MeasureBias(KnownFunction timed, uint64_t (*recorded)(const void*), const void* of);

}  // namespace fieldcost::intercept
