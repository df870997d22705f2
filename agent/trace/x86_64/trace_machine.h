#pragma once

#include <emmintrin.h>

#include <cstdint>

// Instructions with known effects on the processor's counters.

namespace fieldcost::trace {

// Executes a loop of two instructions. REQUIRES: rounds > 0.
inline void RunLoop(std::uint64_t rounds) {
  asm volatile("1: dec %0\n\tjnz 1b" : "+r"(rounds) : : "cc");
}

// Removes the address's line from all caches; complete after AwaitFlushes().
inline void FlushLine(const void* address) { _mm_clflush(address); }
inline void AwaitFlushes() { _mm_mfence(); }

inline void DoNothing() { asm volatile("nop"); }

}  // namespace fieldcost::trace
