#pragma once

#include <stddef.h>
#include <stdint.h>

#include "agent/intercept/thunk.h"
#include "common/shm/probe_file.h"

namespace fieldcost::probe_preload {

struct ThreadState;
struct Record;

inline constexpr uint32_t kPointsOfTarget = 4;

// A function that slots lead to, through the thunk with the same number. Its pointers refer to its
// provider's memory; null names: the provider was unloaded. Written under the patch lock or in the
// constructor unless stated otherwise.
struct Target {
  uint64_t address;  // the real function
  const char* module;
  const char* symbol;
  uint16_t points[kPointsOfTarget];  // points of the plan, number + 1; 0: none
  uint16_t sites[kPointsOfTarget];   // number + 1; 0: unset. Set by the first caller, as `events`
                                     // is
  uint16_t events[kPointsOfTarget];  // site of the event that it begins
  uint8_t automatic;                 // shm::ProbeAutomatic bit, or 0
  uint8_t look;                      // automatic.h: the condition on its arguments
  uint8_t takes_return;              // 1: points after its return
  uint8_t used;
  uint8_t reserved[12];
};

// The state of this process. Written by the constructor before any hit is recorded, and by a child
// of fork() when it opens its own run; constant otherwise unless stated.
struct Process {
  Target targets[intercept::kThunkCount];
  uint32_t target_count;  // grows, under the patch lock
  uint32_t pid;
  uint32_t epoch;     // runs opened by this process and those it was forked from
  uint32_t detached;  // 1: detached permanently
  shm::ProbeHeader* header;
  uint64_t file;  // its address
  uint64_t run;
  shm::ProbeEventId own;  // the process's event: its own, or one that it joined
  uint64_t multiplier;    // 0: ticks are nanoseconds
  ThreadState* threads;   // kProbeRings elements; zeroed in a child of fork()
  Record* records;        // kRecords per thread; a child of fork() has them as well
  shm::ProbeSite* sites;  // private copy of the file's sites: a child writes them into its own file
  uint32_t site_count;    // claimed; only grows
  uint32_t never_reuse;   // records of calls that seem dead may return: greenlet is loaded
  uint64_t stack_top;     // highest address in use of the first thread's stack
  uint32_t exit_seen;
  uint32_t output_seen;
  uint32_t inert;  // 1: there is permanently no reader
};

extern "C" __attribute__((visibility("hidden"))) Process fieldcost_process;
inline Process& process = fieldcost_process;

// The epoch; 0 while no hits are recorded. First word of a page that fork() zeroes in the child
// (MADV_WIPEONFORK): a child finds another epoch there than its threads have.
extern "C" __attribute__((visibility("hidden"))) uint32_t fieldcost_attached[1024];
extern "C" __attribute__((visibility("hidden"))) uint32_t fieldcost_takes_time;
// Points in the source have stacks.
extern "C" __attribute__((visibility("hidden"))) uint32_t fieldcost_takes_stacks;

inline uint32_t Attached() { return __atomic_load_n(fieldcost_attached, __ATOMIC_RELAXED); }

template <typename Part>
Part* InFile(uint64_t offset, uint64_t index) {
  return reinterpret_cast<Part*>(process.file + offset) + index;
}

// The thunk's assumptions about the layout.
static_assert(offsetof(Process, targets) == 0 && offsetof(Target, address) == 0);
static_assert(sizeof(Target) == FIELDCOST_TARGET_ENTRY_BYTES);

}  // namespace fieldcost::probe_preload
