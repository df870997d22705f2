#pragma once

#include <cstdint>
#include <filesystem>

namespace fieldcost::agent {

// How this machine's time stamp counter (TSC) converts to nanoseconds:
// ns = (ticks * multiplier) >> 32. 0 if the counter is not invariant (CPUID 0x80000007 EDX bit 8),
// so that its ticks are not time.

// Measures it against CLOCK_MONOTONIC_RAW; takes about 40 ms.
std::uint64_t CalibrateTsc();

// Returns the cached value of this boot, else a new measurement, which is then cached in
// `cache_file`. Without a usable cache it is only slower.
std::uint64_t TscMultiplier(const std::filesystem::path& cache_file);

}  // namespace fieldcost::agent
