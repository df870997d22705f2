#pragma once

#include <cpuid.h>
#include <x86intrin.h>

#include <cstdint>

// The time stamp counter, as the libraries inside programs read it.

namespace fieldcost::runs {

inline std::uint64_t ReadTimeStamp() { return __rdtsc(); }

// Returns whether the counter runs at the same rate in all states of the processor.
inline bool HasInvariantTimeStamps() {
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  return __get_cpuid(0x80000007, &eax, &ebx, &ecx, &edx) != 0 && (edx & (1U << 8)) != 0;
}

}  // namespace fieldcost::runs
