#pragma once

#include <stdint.h>

namespace fieldcost::probe_preload {

uint64_t UnixNs();
uint64_t MonotonicNs();
uint64_t BootNs();

// When this process began, by CLOCK_BOOTTIME, as /proc tells it (10 ms); 0: not known.
uint64_t ProcessStartBootNs();

// Ticks of that many nanoseconds; `multiplier` is the plan's.
uint64_t TicksOfNs(uint64_t ns, uint64_t multiplier);

}  // namespace fieldcost::probe_preload
