#pragma once

// One ThreadState per thread slot, in private memory made at start. What is declared here runs
// inside handlers: no libc call, no vector register, no lock.

#include <stddef.h>
#include <stdint.h>

#include "agent/intercept/mappings.h"
#include "agent/preload/process_state.h"
#include "agent/preload/record.h"
#include "common/shm/run_file.h"

namespace fieldcost::preload {

inline constexpr uint32_t kRecordsPerThread = 64;

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
  uint64_t io[4];  // bytes: disk read, disk written, net received, net sent
  // What is known of the thread's own stack; between a live frame and its end everything is mapped.
  intercept::StackRange stack;
  Record search;             // stands for a search for dead records, while there is one
  uint32_t early_in;         // records to be taken before dead ones are looked for in time again
  uint32_t reclaim_backoff;  // what reclaim_in becomes when the next search fails
  uint32_t owner_tid;        // 0 = never used; a dead thread's id = free
  uint32_t slot;
  uint32_t has_successor;         // the slot went to another thread since the last check
  uint32_t counting_is_too_much;  // so the last check said
  uint32_t stack_is_known;        // all of it, from the kernel
  uint8_t ready[shm::kMaxPicks];  // kCells...: whether this slot's cells of that pick have memory
  // The sampling of the gap that is running: the call that ends it stands for 2^this. 0: none was
  // drawn yet.
  uint8_t gap_log2[shm::kMaxPicks];
  char scratch[4096];  // for reading /proc/self/maps without using the host's stack
};

// What the thunk knows of it.
static_assert(offsetof(ThreadState, active) == FIELDCOST_THREAD_ACTIVE);
static_assert(offsetof(ThreadState, records) == FIELDCOST_THREAD_RECORDS);

extern "C" __attribute__((visibility("hidden"))) __thread ThreadState* fieldcost_current_thread;

// The thread's call counters; no_counters before it has any.
extern "C" __attribute__((visibility("hidden"))) __thread shm::CallCounter* fieldcost_counters;
extern shm::CallCounter no_counters[shm::kMaxPicks];

// Takes a slot for this thread. Null (and counted as lost) if none is left.
ThreadState* TakeSlot();

// A free record of this thread; null (and counted as lost) if all are in use and none is certainly
// dead. Frames below `live_stack` are.
Record* TakeRecord(ThreadState* thread, uint64_t live_stack);

// Gives this thread call counters. False (and counted as lost) if there is no room.
bool MakeCounters(ThreadState* thread);

// Gives the cells of a pick on this thread memory, so that writing to them cannot fail. Null (and
// counted as lost) if there is none.
shm::Cell* MakeCells(ThreadState* thread, uint32_t pick);

// This thread's state, taking a slot if it has none.
inline ThreadState* CurrentThread() {
  ThreadState* const thread = fieldcost_current_thread;
  return FIELDCOST_LIKELY(thread != nullptr) ? thread : TakeSlot();
}

// The first cell of a pick on this thread; null if it has no memory yet.
inline shm::Cell* ReadyCellsOf(const ThreadState* thread, uint32_t pick) {
  return thread->ready[pick] == kCellsReady
             ? reinterpret_cast<shm::Cell*>(thread->cells + pick * process.pick_bytes)
             : nullptr;
}

// The same, giving it memory. Null (and counted as lost) if there is none.
inline shm::Cell* CellsOf(ThreadState* thread, uint32_t pick) {
  shm::Cell* const cells = ReadyCellsOf(thread, pick);
  return FIELDCOST_LIKELY(cells != nullptr) ? cells : MakeCells(thread, pick);
}

}  // namespace fieldcost::preload
