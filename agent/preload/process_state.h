#pragma once

#include <stddef.h>
#include <stdint.h>

#include "agent/intercept/thunk.h"
#include "common/shm/run_file.h"

#define FIELDCOST_LIKELY(condition) __builtin_expect(static_cast<bool>(condition), 1)

namespace fieldcost::preload {

struct ThreadState;

inline constexpr uint32_t kNoPick = ~uint32_t{0};

// What a handler needs of a pick. Written before its first slot is patched; constant afterwards,
// except where said.
struct alignas(64) PickState {
  uint64_t target;      // the real function (or our wrapper around it)
  uint64_t code_begin;  // the function's own code, for exclusive allocation
  uint64_t code_end;
  shm::Pick* shared;       // its description in the run file
  uint32_t sampling_log2;  // grows: of 2^this calls one is timed
  uint32_t first_taken;    // 1 once a call is the first one
  uint32_t phase;          // shm::PickPhase
  uint32_t slots;          // that were found to lead to it
};

// Everything about this process. Written by the constructor before any slot is patched; constant
// afterwards, except where said.
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
  shm::RunHeader* header;      // the mapped run file
  ThreadState* threads;        // kThreadSlots of them
  uint64_t ticks_to_ns;        // 32.32 fixed point
  uint64_t bias_ticks;         // what a thunk adds to a measurement
  uint64_t bias_spread_ticks;  // by how much that differs: distance of the quartiles
  uint64_t look_at;    // time stamp at which something is to be done: see measuring_run.h; changes
  uint64_t stack_top;  // highest address of the first thread's stack that is in use
  uint32_t overhead_per_65536;  // 0: what measuring costs does not matter
  uint32_t timed_call_ps;
  uint32_t untimed_call_ps;
  uint32_t pid;
  // Facts of the phase that is on, for its picks: shm::PickFlags, and the chance it was chosen by.
  uint32_t phase_flags;
  uint32_t phase_selection_per_65536;
  uint32_t not_measured;  // shm::NotMeasured: of every pick; bits are added at any time
  uint32_t has_begun;     // the program: what is picked from now on has been called before, perhaps
  uint32_t is_watching;   // the last thunks are those of watched functions (sightings.h)
  uint32_t never_reuse;   // frames that seem gone may return: greenlet is loaded; changes once
};

// Not 0 while this process measures; first of a page that fork() gives to the child zeroed
// (MADV_WIPEONFORK): a child is detached without anybody's help.
extern "C" __attribute__((visibility("hidden"))) uint32_t fieldcost_attached[1024];

extern "C" __attribute__((visibility("hidden"))) ProcessState fieldcost_process;
inline ProcessState& process = fieldcost_process;

inline bool IsAttached() {
  return FIELDCOST_LIKELY(__atomic_load_n(fieldcost_attached, __ATOMIC_RELAXED) != 0);
}

// What the thunk knows of it.
static_assert(offsetof(ProcessState, picks) == 0 && offsetof(PickState, target) == 0);
static_assert(sizeof(PickState) == FIELDCOST_TARGET_ENTRY_BYTES);
static_assert(shm::kMaxPicks == intercept::kThunkCount);

}  // namespace fieldcost::preload
