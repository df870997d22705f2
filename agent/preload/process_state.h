#pragma once

#include <stddef.h>
#include <stdint.h>

#include "agent/intercept/host.h"
#include "agent/intercept/thunk.h"
#include "common/shm/run_file.h"

#define FIELDCOST_LIKELY(condition) __builtin_expect(static_cast<bool>(condition), 1)

namespace fieldcost::preload {

struct ThreadState;

inline constexpr uint32_t kNoPick = ~uint32_t{0};

// The state of a pick that handlers use. Written before its first slot is patched; constant
// afterwards, except where noted.
struct alignas(64) PickState {
  uint64_t target;      // the real function (or our wrapper around it)
  uint64_t code_begin;  // the function's own code, for exclusive allocation
  uint64_t code_end;
  shm::Pick* shared;       // its description in the run file
  uint32_t sampling_log2;  // grows: one in 2^this calls is timed
  uint32_t first_taken;    // 1 once a call has become the first one
  uint32_t phase;          // shm::PickPhase
  uint32_t slots;          // how many were found to lead to it
};

// The state of this process. Written by the constructor before any slot is patched; constant
// afterwards, except where noted.
struct ProcessState {
  PickState picks[shm::kMaxPicks];
  uint32_t pick_count;  // grows; changed while the patch lock is held
  uint32_t pick_capacity;
  shm::MetricSet metrics;  // of every pick
  uint32_t cycles_index;   // index of that metric among the picks' metrics, if they have it
  uint32_t alloc_index;    // of kAllocInclusive
  uint32_t io_index;       // of kDiskRead
  uint64_t pick_bytes;     // distance between two picks' cells
  uint64_t slot_bytes;     // distance between two slots' cells
  uint64_t cells;          // address of the first cell
  uint64_t counters;       // address of the first counter
  uint64_t counter_slot_bytes;
  shm::RunHeader* header;       // the mapped run file
  ThreadState* threads;         // kThreadSlots elements
  uint64_t ticks_to_ns;         // 32.32 fixed point
  uint64_t bias_ticks;          // time that a thunk adds to each measurement
  uint64_t bias_spread_ticks;   // its interquartile range
  uint64_t look_at;             // time stamp of the next action (measuring_run.h); changes
  uint32_t overhead_per_65536;  // 0: the cost of measuring is not limited
  uint32_t timed_call_ps;
  uint32_t untimed_call_ps;
  // Properties of the current phase, for its picks: shm::PickFlags, and its selection probability.
  uint32_t phase_flags;
  uint32_t phase_selection_per_65536;
  uint32_t not_measured;  // shm::NotMeasured, for every pick; bits may be added at any time
  uint32_t has_begun;     // the program runs: functions picked from now on may have been called
  uint32_t is_watching;   // the last thunks belong to watched functions (sightings.h)
};

extern "C" __attribute__((visibility("hidden"))) ProcessState fieldcost_process;
inline ProcessState& process = fieldcost_process;

using intercept::fieldcost_attached;
using intercept::IsAttached;

// The thunk's assumptions about the layout.
static_assert(offsetof(ProcessState, picks) == 0 && offsetof(PickState, target) == 0);
static_assert(sizeof(PickState) == FIELDCOST_TARGET_ENTRY_BYTES);
static_assert(shm::kMaxPicks == intercept::kThunkCount);

}  // namespace fieldcost::preload
