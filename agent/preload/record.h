#pragma once

// The state behind the thunks: one Record per measurement in progress, one ThreadState per thread
// slot. All in private memory made at start; nothing here allocates, locks or fails loudly.

#include <stddef.h>
#include <stdint.h>

#include "common/shm/run_file.h"

namespace fieldcost::preload {

inline constexpr uint32_t kRecordsPerThread = 64;
inline constexpr uint32_t kCalibrationPick = shm::kMaxPicks;  // its stub follows the picks'
inline constexpr uint32_t kStubCount = shm::kMaxPicks + 1;
inline constexpr uint32_t kStubBytes = 16;

struct ThreadState;

// A measurement in progress. It stays `in_use` until the measured call returns, or until it is
// certain that it never will (longjmp, exception); a record that might still be returned through is
// never reused.
struct Record {
  uint64_t return_address;
  uint64_t saved_rbx;
  uint64_t target;
  uint64_t stack_pointer;  // address of the stack slot that held the return address
  uint64_t start_ticks;
  uint64_t allocated_inclusive;  // the thread's counters at entry
  uint64_t allocated_exclusive;
  ThreadState* owner;
  uint32_t pick;
  uint32_t in_use;
  uint32_t superseded;  // the thread went on without it: counted as abandoned, unless it returns
  uint32_t padding;
};
static_assert(offsetof(Record, return_address) == 0);  // x86_64/thunk.S
static_assert(offsetof(Record, saved_rbx) == 8);
static_assert(offsetof(Record, target) == 16);

// One thread's slot. Slots outlive their thread and are taken over by a later one.
struct ThreadState {
  uint32_t owner_tid;  // 0 = never used; a dead thread's id = free
  uint32_t slot;
  Record* active;  // innermost measurement on this thread, or null
  uint64_t allocated_inclusive;
  uint64_t allocated_exclusive;
  uint64_t ready[(shm::kMaxPicks + 63) / 64];  // bit: this slot's cells of that pick have memory
  Record records[kRecordsPerThread];
  char scratch[4096];  // for reading /proc/self/maps without using the host's stack
};

// What a handler needs of a pick.
struct PickState {
  uint64_t target;      // the real function (or our allocation wrapper around it)
  uint64_t code_begin;  // the function's own code, for exclusive allocation
  uint64_t code_end;
  shm::MetricSet metrics;
  uint32_t alloc_index;  // index of kAllocInclusive among the pick's metrics, if it has it
};

// Everything about this process. Written by the constructor before any slot is patched; constant
// afterwards, except where said.
struct ProcessState {
  // Points to a page that fork() gives to the child zeroed (MADV_WIPEONFORK): a child is detached
  // without anybody's help.
  const uint32_t* attached;
  shm::RunHeader* header;  // the mapped run file
  ThreadState* threads;    // kThreadSlots of them
  uint64_t ticks_to_ns;    // 32.32 fixed point
  uint64_t bias_ticks;     // what a thunk adds to a measurement
  uint64_t cells;          // address of the first cell
  uint64_t slot_bytes;     // distance between two slots' cells
  uint64_t pick_bytes;     // distance between two picks' cells
  uint64_t stack_top;      // highest address of the first thread's stack that is in use
  uint32_t pid;
  uint32_t metrics_per_pick;
  PickState picks[kStubCount];
  shm::Cell calibration_cell;
};

extern __attribute__((visibility("hidden"))) ProcessState process;

}  // namespace fieldcost::preload
