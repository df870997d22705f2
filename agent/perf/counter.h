#pragma once

#include <linux/perf_event.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace fieldcost::perf {

// The events that the hardware or the kernel can count for a thread in user mode.
enum class Counter : std::uint8_t { kCycles, kInstructions, kCacheMisses, kBranchMisses, kFaults };

// Returns "cycles", "instructions", "cache-misses", "branch-misses" or "faults", which is also the
// metric's name.
std::string_view Name(Counter counter);

// Parses comma-separated names; returns each counter once. Returns kInvalidArgument if a name is
// unknown or there is none.
Result<std::vector<Counter>> ParseCounters(std::string_view untrusted_list);

// Returns how many events a sample represents if CPU time is sampled every `period_ns`. For cycles
// and instructions this is three per ns, so that there are as many samples as of CPU time at that
// rate; for the others it is a constant.
std::uint64_t PeriodOf(Counter counter, std::uint64_t period_ns);

// Returns the kernel's event for the counter: user mode only, even for root, with CLOCK_MONOTONIC.
perf_event_attr EventOf(Counter counter);

// Return a software event, and the sampled variant of an event, with the attributes that all
// samples share.
perf_event_attr SoftwareEvent(std::uint64_t config, bool exclude_kernel);
struct Sampling {
  std::uint64_t period = 0;       // in units of the event
  std::uint32_t stack_bytes = 0;  // of the copy
  bool from_next_exec = false;    // false: at once
};
perf_event_attr Sampled(perf_event_attr event, const Sampling& sampling);

// Calls perf_event_open(2). Returns a descriptor, or -1 with errno set. `cpu` -1: all CPUs.
int OpenPerfEvent(const perf_event_attr& event, int tid, int cpu);

}  // namespace fieldcost::perf
