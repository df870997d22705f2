#pragma once

#include <stddef.h>
#include <stdint.h>

#include "agent/intercept/thunk.h"
#include "common/shm/probe_file.h"

namespace fieldcost::probe_preload {

struct ThreadState;
struct Record;

inline constexpr uint32_t kPointsOfTarget = 4;

// A function that slots lead to, through the thunk with the same number. Its pointers refer to
// memory of its provider; null names: the provider was unloaded. Written under the patch lock or in
// the constructor unless stated otherwise.
struct Target {
  uint64_t address;  // the real function
  const char* module;
  const char* symbol;
  uint16_t points[kPointsOfTarget];  // of the plan, number + 1; 0: none
  uint16_t sites[kPointsOfTarget];   // number + 1, as the next; 0: not yet. By whoever calls first
  uint16_t events[kPointsOfTarget];  // site of the event that it begins
  uint8_t automatic;                 // shm::ProbeAutomatic bit, or 0
  uint8_t look;                      // automatic.h: what its arguments must be
  uint8_t takes_return;              // 1: points after its return
  uint8_t used;
  uint8_t reserved[12];
};

// Everything about this process. Written by the constructor before any hit is taken, and by a child
// of fork() when it opens a run of its own; constant otherwise unless stated.
struct Process {
  Target targets[intercept::kThunkCount];
  uint32_t target_count;  // grows, under the patch lock
  uint32_t pid;
  uint32_t epoch;     // runs opened by this process and those it was forked from
  uint32_t detached;  // 1: left alone for good
  shm::ProbeHeader* header;
  uint64_t file;  // its address
  uint64_t run;
  shm::ProbeEventId own;  // the process's event: its own, or one that it takes part in
  uint64_t multiplier;    // 0: ticks are nanoseconds
  ThreadState* threads;   // kProbeRings of them; zero in a child of fork()
  Record* records;        // kRecords of each; a child has them, too
  shm::ProbeSite* sites;  // private copy of what the file has: a child writes them into its own
  uint32_t site_count;    // claimed; only grows
  uint32_t never_reuse;   // records of calls that seem gone may return: greenlet is loaded
  uint64_t stack_top;     // highest address of the first thread's stack that is in use
  uint32_t exit_seen;
  uint32_t output_seen;
  uint32_t inert;  // 1: nobody looks, for good
};

extern "C" __attribute__((visibility("hidden"))) Process fieldcost_process;
inline Process& process = fieldcost_process;

// Not 0 while hits are taken: the epoch. First of a page that fork() gives to the child zeroed
// (MADV_WIPEONFORK): a child finds another epoch there than its threads have.
extern "C" __attribute__((visibility("hidden"))) uint32_t fieldcost_attached[1024];
extern "C" __attribute__((visibility("hidden"))) uint32_t fieldcost_takes_time;
// Points of the source have stacks.
extern "C" __attribute__((visibility("hidden"))) uint32_t fieldcost_takes_stacks;

inline uint32_t Attached() { return __atomic_load_n(fieldcost_attached, __ATOMIC_RELAXED); }

template <typename Part>
Part* InFile(uint64_t offset, uint64_t index) {
  return reinterpret_cast<Part*>(process.file + offset) + index;
}

// The layout that the thunk relies on.
static_assert(offsetof(Process, targets) == 0 && offsetof(Target, address) == 0);
static_assert(sizeof(Target) == FIELDCOST_TARGET_ENTRY_BYTES);

}  // namespace fieldcost::probe_preload
