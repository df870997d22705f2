#pragma once

#include <cstdint>
#include <filesystem>

namespace fieldcost::runs {

// The conversion of this machine's time stamp counter (TSC) to nanoseconds: ns = (ticks *
// multiplier) >> 32. 0 if the counter is not invariant (CPUID 0x80000007 EDX bit 8), so that its
// ticks do not measure time.

// Calibrates it against CLOCK_MONOTONIC_RAW; takes about 40 ms.
std::uint64_t CalibrateTsc();

// Returns the cached value of this boot, or else calibrates and caches the result in `cache_file`.
// Without a usable cache it is only slower.
std::uint64_t TscMultiplier(const std::filesystem::path& cache_file);

}  // namespace fieldcost::runs
