#pragma once

// The state behind the thunks: one Record per measurement in progress, one ThreadState per thread
// slot. All in private memory made at start; nothing here allocates, locks or fails loudly.

#include <stddef.h>
#include <stdint.h>

#include "agent/intercept/thunk.h"
#include "common/shm/run_file.h"

namespace fieldcost::preload {

inline constexpr uint32_t kRecordsPerThread = 64;

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
  uint32_t in_use;
  // What a stub says (a pick, perhaps with kSampledFlag) when all below is set for it, its next
  // call's weight too, and nothing but time is metered: then the thunk takes the thread's first
  // record itself. kNoPick otherwise.
  uint32_t usual;
  uint32_t what;        // the pick, perhaps with kSampledFlag
  uint32_t superseded;  // the thread went on without it: counted as abandoned, unless it returns
  ThreadState* owner;   // whose record it is, always
  shm::Cell* cells;     // the owner's, of this pick
  uint64_t allocated_inclusive;  // the thread's counters at entry
  uint64_t allocated_exclusive;
  uint64_t io[4];
  uint32_t is_first;     // the process's first call of this pick
  uint32_t weight_log2;  // it stands for 2^this calls
};
inline constexpr uint32_t kNoPick = ~uint32_t{0};

inline uint32_t PickOf(const Record& record) { return record.what & ~intercept::kSampledFlag; }
inline bool IsSampled(const Record& record) { return (record.what & intercept::kSampledFlag) != 0; }

// While a thread writes to its cells, `active` is this mark of the record concerned: whoever calls
// from a signal handler then is not measured, since cells have one writer.
inline Record* Busy(Record* record) {
  return reinterpret_cast<Record*>(reinterpret_cast<uint64_t>(record) | 1);
}
inline bool IsBusy(const Record* active) { return (reinterpret_cast<uint64_t>(active) & 1) != 0; }
inline Record* RecordOf(Record* active) {
  return reinterpret_cast<Record*>(reinterpret_cast<uint64_t>(active) & ~uint64_t{1});
}

// ThreadState::ready
inline constexpr uint8_t kCellsReady = 1;
inline constexpr uint8_t kCellsRefused = 2;  // the disk is full: not asked for again

// One thread's slot. Slots outlive their thread and are taken over by a later one.
struct ThreadState {
  Record* active;       // innermost measurement on this thread, or null; see Busy()
  uint32_t check_in;    // timed calls until their cost is looked at
  uint32_t reclaim_in;  // calls to let go unmeasured before records are looked for again
  Record records[kRecordsPerThread];
  uint64_t cells;              // address of this slot's first cell
  shm::CallCounter* counters;  // this slot's
  uint64_t random;             // state of the gaps' generator
  uint64_t untimed_since_check;
  uint64_t cpu_ns_at_check;
  uint64_t process_cpu_ns_at_succession;
  int64_t credit_ps;  // what measuring may cost this thread before something is done about it
  uint64_t allocated_inclusive;
  uint64_t allocated_exclusive;
  uint64_t io[4];            // bytes: disk read, disk written, net received, net sent
  uint64_t stack_begin;      // of the thread's own stack what is known; between a live frame and
  uint64_t stack_end;        // stack_end everything is mapped
  Record search;             // stands for a search for dead records, while there is one
  uint32_t reclaim_backoff;  // what reclaim_in becomes when the next search fails
  uint32_t owner_tid;        // 0 = never used; a dead thread's id = free
  uint32_t slot;
  uint32_t has_successor;         // the slot went to another thread since the last check
  uint32_t counting_is_too_much;  // so the last check said
  uint8_t ready[shm::kMaxPicks];  // kCells...: whether this slot's cells of that pick have memory
  // The sampling of the gap that is running: the call that ends it stands for 2^this. 0: none was
  // drawn yet.
  uint8_t gap_log2[shm::kMaxPicks];
  char scratch[4096];  // for reading /proc/self/maps without using the host's stack
};

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
  // Of the phase that is on, for its picks: shm::PickFlags, and the chance that it was chosen.
  uint32_t phase_flags;
  uint32_t phase_selection_per_65536;
  uint32_t has_begun;  // the program: what is picked from now on has been called before, perhaps
};

// Not 0 while this process measures; first of a page that fork() gives to the child zeroed
// (MADV_WIPEONFORK): a child is detached without anybody's help.
extern "C" __attribute__((visibility("hidden"))) uint32_t fieldcost_attached[1024];

extern "C" __attribute__((visibility("hidden"))) ProcessState fieldcost_process;
inline ProcessState& process = fieldcost_process;

// What the thunk knows of these structures.
static_assert(offsetof(Record, return_address) == FIELDCOST_RECORD_RETURN_ADDRESS);
static_assert(offsetof(Record, saved_rbx) == FIELDCOST_RECORD_SAVED_RBX);
static_assert(offsetof(Record, target) == FIELDCOST_RECORD_TARGET);
static_assert(offsetof(Record, stack_pointer) == FIELDCOST_RECORD_STACK_POINTER);
static_assert(offsetof(Record, start_ticks) == FIELDCOST_RECORD_START_TICKS);
static_assert(offsetof(Record, in_use) == FIELDCOST_RECORD_IN_USE);
static_assert(offsetof(Record, usual) == FIELDCOST_RECORD_USUAL);
static_assert(offsetof(ThreadState, active) == FIELDCOST_THREAD_ACTIVE);
static_assert(offsetof(ThreadState, records) == FIELDCOST_THREAD_RECORDS);
static_assert(offsetof(ProcessState, picks) == 0 && offsetof(PickState, target) == 0);
static_assert(sizeof(PickState) == FIELDCOST_TARGET_ENTRY_BYTES);
static_assert(shm::kMaxPicks == intercept::kThunkCount);

}  // namespace fieldcost::preload
