#pragma once

// One ThreadState per thread slot, in private memory mapped at start. The functions declared here
// run inside handlers: no libc call, no vector register, no lock.

#include <stddef.h>
#include <stdint.h>

#include "agent/intercept/mappings.h"
#include "agent/preload/preload_record.h"
#include "agent/preload/process_state.h"
#include "common/shm/run_file.h"

namespace fieldcost::preload {

inline constexpr uint32_t kRecordsPerThread = 64;

// ThreadState::ready
inline constexpr uint8_t kCellsReady = 1;
inline constexpr uint8_t kCellsRefused = 2;  // the file system is full: not requested again

// One thread's slot. Slots outlive their thread and are taken over by a later one.
struct ThreadState {
  Record* active;       // innermost measurement on this thread, or null; see Busy()
  uint32_t check_in;    // timed calls until the account is settled
  uint32_t reclaim_in;  // calls to leave unmeasured before the next search for records
  Record records[kRecordsPerThread];
  uint64_t cells;              // address of this slot's first cell
  shm::CallCounter* counters;  // this slot's
  uint64_t random;             // state of the gaps' generator
  uint64_t untimed_since_check;
  uint64_t cpu_ns_at_check;
  uint64_t process_cpu_ns_at_succession;
  int64_t credit_ps;  // what measuring may still cost this thread before it is reduced
  uint64_t allocated_inclusive;
  uint64_t allocated_exclusive;
  uint64_t io[4];  // bytes: disk read, disk written, net received, net sent
  // The known part of the thread's own stack; everything from a live frame to its end is mapped.
  intercept::StackRange stack;
  Record search;             // represents a search for dead records while it runs
  uint32_t early_in;         // records to be taken before the next early search for dead ones
  uint32_t reclaim_backoff;  // the value of reclaim_in after the next failed search
  uint32_t owner_tid;        // 0 = never used; a dead thread's id = free
  uint32_t slot;
  uint32_t has_successor;         // the slot was taken over by another thread since the last check
  uint32_t counting_is_too_much;  // according to the last check
  uint32_t stack_is_known;        // completely, from the kernel
  uint8_t ready[shm::kMaxPicks];  // kCells...: whether this slot's cells of that pick have memory
  // The sampling of the current gap: the call that ends it represents 2^this calls. 0: none was
  // drawn yet.
  uint8_t gap_log2[shm::kMaxPicks];
  char scratch[4096];  // for reading /proc/self/maps without using the host's stack
};

// The thunk's assumptions about the layout.
static_assert(offsetof(ThreadState, active) == FIELDCOST_THREAD_ACTIVE);
static_assert(offsetof(ThreadState, records) == FIELDCOST_THREAD_RECORDS);

extern "C" __attribute__((visibility("hidden"))) __thread ThreadState* fieldcost_current_thread;

// The thread's call counters; no_counters until it has some.
extern "C" __attribute__((visibility("hidden"))) __thread shm::CallCounter* fieldcost_counters;
extern shm::CallCounter no_counters[shm::kMaxPicks];

// Takes a slot for this thread. Returns null (and counts a lost call) if none is left.
ThreadState* TakeSlot();

// Returns a free record of this thread; null (and counts a lost call) if all are in use and none is
// certainly dead, as those of frames below `live_stack` are.
Record* TakeRecord(ThreadState* thread, uint64_t live_stack);

// Allocates this thread's call counters. Returns false (and counts a lost call) if there is no
// room.
bool MakeCounters(ThreadState* thread);

// Populates the cells of a pick on this thread, so that writing to them cannot fail. Returns null
// (and counts a lost call) if there is no memory.
shm::Cell* MakeCells(ThreadState* thread, uint32_t pick);

// Returns this thread's state, taking a slot if it has none.
inline ThreadState* CurrentThread() {
  ThreadState* const thread = fieldcost_current_thread;
  return FIELDCOST_LIKELY(thread != nullptr) ? thread : TakeSlot();
}

// Returns the first cell of a pick on this thread; null if it is not populated yet.
inline shm::Cell* ReadyCellsOf(const ThreadState* thread, uint32_t pick) {
  return thread->ready[pick] == kCellsReady
             ? reinterpret_cast<shm::Cell*>(thread->cells + pick * process.pick_bytes)
             : nullptr;
}

// Does the same, populating it first if needed. Returns null (and counts a lost call) if there is
// no memory.
inline shm::Cell* CellsOf(ThreadState* thread, uint32_t pick) {
  shm::Cell* const cells = ReadyCellsOf(thread, pick);
  return FIELDCOST_LIKELY(cells != nullptr) ? cells : MakeCells(thread, pick);
}

}  // namespace fieldcost::preload
