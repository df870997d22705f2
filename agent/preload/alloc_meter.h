#pragma once

#include <stddef.h>
#include <stdint.h>

namespace fieldcost::preload {

// One function of the malloc family: its name, our wrapper, and where the wrapper keeps the real
// one. A wrapper calls the real function and, while its thread measures a pick that meters
// allocation, adds the bytes asked for to the thread's counters.
struct AllocFunction {
  const char* name;
  uint64_t wrapper;
  uint64_t* real;
};

inline constexpr size_t kAllocFunctionCount = 9;
extern const AllocFunction kAllocFunctions[kAllocFunctionCount];

}  // namespace fieldcost::preload
