#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "agent/sampler/counter.h"

namespace fieldcost::sampler {

// What an event says of the work that it is tried on.
struct CounterReading {
  std::uint64_t value = 0;
  std::uint64_t enabled_ns = 0;
  std::uint64_t running_ns = 0;  // less: the hardware had no room for it all the time
};

// Why a counter that reads so of the work of CheckCounters() is not to be believed; "": it is.
// Pure.
std::string WhyNot(Counter counter, const CounterReading& reading);

// The work: so many rounds of a loop of two instructions, reads of lines that are in no cache,
// branches by chance, pages that nobody has touched. Each takes some ms at most.
inline constexpr std::uint64_t kTriedRounds = 10'000'000;
inline constexpr std::uint64_t kTriedLines = 20'011;
inline constexpr std::uint64_t kTriedBranches = 200'000;
inline constexpr std::uint64_t kTriedPages = 256;

struct CounterCheck {
  Counter counter;
  std::string why_not;  // empty: it can be measured
};

// Tries all of them at once on known work of this thread, and whether each CPU can sample them.
// `period_ns`: as of PeriodOf().
std::vector<CounterCheck> CheckCounters(const std::vector<Counter>& counters,
                                        std::uint64_t period_ns);

}  // namespace fieldcost::sampler
