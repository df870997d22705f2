#pragma once

#include <cstdint>
#include <vector>

#include "agent/perf/counter.h"
#include "common/base/result.h"

namespace fieldcost::trace {

// The values of an event after the known work.
struct CounterReading {
  std::uint64_t value = 0;
  std::uint64_t enabled_ns = 0;
  std::uint64_t running_ns = 0;  // if less, the hardware was shared with other events
};

// Whether this reading after CheckCounters()' work is plausible for the counter. kUnavailable: the
// hardware was shared; kUnsupported: the counter does not count what it should. Pure.
Status CheckReading(perf::Counter counter, const CounterReading& reading);

// The known work: rounds of a loop of two instructions, reads of uncached lines, random branches,
// and first accesses to new pages. Each takes a few ms at most.
inline constexpr std::uint64_t kTriedRounds = 10'000'000;
inline constexpr std::uint64_t kTriedLines = 20'011;
inline constexpr std::uint64_t kTriedBranches = 200'000;
inline constexpr std::uint64_t kTriedPages = 256;

struct CounterCheck {
  perf::Counter counter;
  Status status;  // the error: why it cannot be measured, without the counter's name
};

// Tries all counters at once on known work of this thread, and checks that each CPU can sample
// them. `period_ns`: as for PeriodOf().
std::vector<CounterCheck> CheckCounters(const std::vector<perf::Counter>& counters,
                                        std::uint64_t period_ns);

}  // namespace fieldcost::trace
