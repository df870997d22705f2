#pragma once

#include <stddef.h>
#include <stdint.h>

#include "agent/intercept/every_call.h"
#include "agent/intercept/thunk.h"
#include "common/shm/probe_file.h"

namespace fieldcost::probe_preload {

struct ThreadState;
struct Record;

inline constexpr uint32_t kPointsOfTarget = 4;

// A function that slots lead to; without a version. Written under the patch lock or in the
// constructor unless stated otherwise.
struct Target : intercept::TargetName {
  uint16_t points[kPointsOfTarget];  // points of the plan, number + 1; 0: none
  uint16_t sites[kPointsOfTarget];   // number + 1; 0: unset. Set by the first caller, as `events`
                                     // is
  uint16_t events[kPointsOfTarget];  // site of the event that it begins
  uint8_t automatic;                 // shm::ProbeAutomatic bit, or 0
  uint8_t look;                      // automatic.h: the condition on its arguments
  uint8_t takes_return;              // 1: points after its return
  uint8_t reserved[5];
};

// The state of this process. Written by the constructor before any hit is recorded, and by a child
// of fork() when it opens its own run; constant otherwise unless stated.
struct Process : intercept::EveryCallProcess<Target, shm::ProbeHeader, ThreadState> {
  uint32_t epoch;       // runs opened by this process and those it was forked from
  uint32_t site_count;  // claimed; only grows
  uint64_t run;
  shm::ProbeEventId own;  // the process's event: its own, or one that it joined
  uint64_t multiplier;    // 0: ticks are nanoseconds
  // kRecords per thread. A child of fork() has them, but its threads' states are zeroed.
  Record* records;
  shm::ProbeSite* sites;  // private copy of the file's sites: a child writes them into its own file
  uint32_t exit_seen;
  uint32_t output_seen;
  uint32_t inert;  // 1: there is permanently no reader
};

extern "C" __attribute__((visibility("hidden"))) Process fieldcost_process;
inline Process& process = fieldcost_process;

// The value of fieldcost_attached is the epoch; 0 while no hits are recorded. A child of fork()
// finds another epoch there than its threads have.
using intercept::fieldcost_attached;
extern "C" __attribute__((visibility("hidden"))) uint32_t fieldcost_takes_time;
// Points in the source have stacks.
extern "C" __attribute__((visibility("hidden"))) uint32_t fieldcost_takes_stacks;

inline uint32_t Attached() { return __atomic_load_n(fieldcost_attached, __ATOMIC_RELAXED); }

}  // namespace fieldcost::probe_preload
