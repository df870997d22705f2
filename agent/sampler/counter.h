#pragma once

#include <linux/perf_event.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace fieldcost::sampler {

// What the hardware, or the kernel, can count of a thread's user mode.
enum class Counter : std::uint8_t { kCycles, kInstructions, kCacheMisses, kBranchMisses, kFaults };

// "cycles", "instructions", "cache-misses", "branch-misses", "faults": the metric's name, too.
std::string_view Name(Counter counter);

// Names with commas between them; each once. kInvalidArgument: one is of no counter, or there is
// none.
Result<std::vector<Counter>> ParseCounters(std::string_view untrusted_list);

// How many of it a sample stands for, where CPU time has a sample each `period_ns`. Cycles and
// instructions: as many samples as of CPU time while a thread does three a ns. Others: the same
// always.
std::uint64_t PeriodOf(Counter counter, std::uint64_t period_ns);

// The kernel's event of it, of user mode alone whoever asks, on the clock CLOCK_MONOTONIC.
perf_event_attr EventOf(Counter counter);

// An event of the kernel's own, and one that is to be sampled: what all samples have in common.
perf_event_attr SoftwareEvent(std::uint64_t config, bool exclude_kernel);
struct Sampling {
  std::uint64_t period = 0;       // in the event's unit
  std::uint32_t stack_bytes = 0;  // of the copy
  bool from_next_exec = false;    // else at once
};
perf_event_attr Sampled(perf_event_attr event, const Sampling& sampling);

// perf_event_open(2): a descriptor, or -1 and errno. `cpu` -1: on all.
int OpenPerfEvent(const perf_event_attr& event, int tid, int cpu);

}  // namespace fieldcost::sampler
