#include "agent/preload/preload_thread_state.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#include "agent/intercept/mapped_memory.h"
#include "agent/intercept/thread_slots.h"
#include "agent/intercept/x86_64/machine.h"
#include "agent/preload/measuring.h"
#include "agent/preload/overhead.h"

// Runs inside handlers: no libc call, no vector register, no lock.

namespace fieldcost::preload {

using intercept::SystemCall;

__thread ThreadState* fieldcost_current_thread;
shm::CallCounter no_counters[shm::kMaxPicks];
__thread shm::CallCounter* fieldcost_counters = no_counters;

namespace {

// When this many records are taken, dead ones are searched for. Waiting until all are taken would
// be too late: the call that takes the last one may be in a signal handler, further down the stack
// than the dead ones, where nothing is certain about them.
constexpr uint32_t kFewRecords = kRecordsPerThread / 2;

// A search that queries the kernel about stacks, which takes a millisecond in a large program, is
// worthwhile if it frees this many. Otherwise, a program that leaves one call at a time, below
// abandoned calls that are indistinguishable from live ones, would cause a query each time.
constexpr uint32_t kWorthASearch = kFewRecords / 4;

__thread intercept::SlotBackoff backoff;

void CountLost() { __atomic_fetch_add(&process.header->lost_calls, 1, __ATOMIC_RELAXED); }

bool Prepare(ThreadState* thread, uint32_t slot, uint32_t tid) {
  thread->slot = slot;
  thread->cells = process.cells + slot * process.slot_bytes;
  thread->counters =
      reinterpret_cast<shm::CallCounter*>(process.counters + slot * process.counter_slot_bytes);
  thread->random = intercept::ReadTimeStamp();
  StartCostAccount(thread);
  if (thread->active != nullptr) Abandon(thread, RecordOf(thread->active));
  thread->stack = intercept::LeastStack(tid == intercept::host.pid ? intercept::host.stack_top : 0);
  thread->stack_is_known = 0;
  thread->reclaim_in = thread->early_in = 0;
  thread->reclaim_backoff = intercept::kFirstBackoff;
  for (Record& record : thread->records) {
    record.owner = thread;
    record.usual = kNoPick;  // never used, or prepared for another thread's gap
  }
  return true;
}

// Looks up the stack that contains `here`; returns true if it is known. Remembers it if it is the
// thread's own: the mapping that also holds its control block and has a guard directly below it;
// for the first thread, the one that ends at the kernel's arguments (it holds no control block).
bool LookUpStack(ThreadState* thread, uint64_t here) {
  intercept::Mapping below{};
  intercept::Mapping stack{};
  if (!intercept::FindMapping(here, thread->scratch, sizeof thread->scratch, &below, &stack))
    return false;
  const uint64_t control_block = intercept::ThreadPointer();
  const bool first_thread = thread->owner_tid == intercept::host.pid;
  const bool own_stack = first_thread ? intercept::host.stack_top > stack.begin &&
                                            intercept::host.stack_top <= stack.end
                                      : stack.begin <= control_block && control_block < stack.end &&
                                            below.none && below.end == stack.begin;
  if (own_stack) {
    thread->stack = {stack.begin, stack.end};
    thread->stack_is_known = 1;
  }
  return true;
}

bool IsOnOwnStack(const ThreadState* thread, uint64_t live_stack) {
  return live_stack > thread->stack.begin && live_stack <= thread->stack.end;
}

// Frees records that can never be returned through: on this thread's own stack those below the live
// stack pointer, and on any stack those directly below it, at the current call's place. Elsewhere
// on fibre and signal stacks they are left alone, since frames may be alive there at any place.
// Returns how many.
uint32_t FreeDeadRecords(ThreadState* thread, uint64_t live_stack) {
  const bool own = IsOnOwnStack(thread, live_stack);
  uint32_t freed = 0;
  for (Record& record : thread->records) {
    const uint64_t place = record.stack_pointer;
    if (record.in_use == 0 || place >= live_stack) continue;
    if (own ? place < thread->stack.begin : place + 1 != live_stack) continue;
    record.stack_pointer = 0;
    record.superseded = 0;
    record.in_use = 0;
    ++freed;
  }
  return freed;
}

// The same, but queries the kernel about the stack if the known facts may be insufficient: always
// on the thread's own stack, since only the kernel can exclude that a library copies it away and
// back. Returns true if that was worthwhile.
bool ReclaimDeadRecords(ThreadState* thread, uint64_t live_stack) {
  if (intercept::host.never_reuse != 0) return false;
  const bool on_own = IsOnOwnStack(thread, live_stack);
  if (on_own && thread->stack_is_known != 0) return FreeDeadRecords(thread, live_stack) != 0;
  const uint32_t freed = on_own ? 0 : FreeDeadRecords(thread, live_stack);
  if (freed >= kWorthASearch) return true;
  return LookUpStack(thread, live_stack) &&
         freed + FreeDeadRecords(thread, live_stack) >= kWorthASearch;
}

// Returns one of the first `count` records that is free. Taking one of the later ones brings the
// next early search closer.
Record* TakeFree(ThreadState* thread, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    Record* const record = &thread->records[i];
    if (record->in_use != 0 || !intercept::TakeOnThisThread(&record->in_use)) continue;
    if (i >= kFewRecords && thread->early_in != 0) --thread->early_in;
    return record;
  }
  return nullptr;
}

bool IsAnyFree(const ThreadState* thread) {
  for (const Record& record : thread->records) {
    if (record.in_use == 0) return true;
  }
  return false;
}

// Searches for dead records. The time of the next search is set first, in case a signal handler
// jumps out of this one.
bool Search(ThreadState* thread, uint64_t live_stack) {
  thread->reclaim_in = thread->reclaim_backoff;
  thread->early_in = thread->reclaim_backoff / intercept::kFirstBackoff;
  thread->search.stack_pointer = live_stack & ~uint64_t{7};
  thread->search.return_address = *reinterpret_cast<uint64_t*>(thread->search.stack_pointer);
  thread->search.cells = thread->records[0].cells;
  const NoMeasuring guard(thread, &thread->search, nullptr);
  const bool found = ReclaimDeadRecords(thread, live_stack);
  if (found) {
    thread->reclaim_backoff = intercept::kFirstBackoff;
  } else if (thread->reclaim_backoff < intercept::kLastBackoff) {
    thread->reclaim_backoff *= 2;
  }
  return found;
}

}  // namespace

__attribute__((cold)) ThreadState* TakeSlot() {
  ThreadState* const thread =
      intercept::TakeThreadSlot(process.threads, shm::kThreadSlots, &backoff, Prepare);
  if (thread != nullptr) return fieldcost_current_thread = thread;
  CountLost();
  return nullptr;
}

Record* TakeRecord(ThreadState* thread, uint64_t live_stack) {
  if (thread->reclaim_in != 0) {
    --thread->reclaim_in;
    CountLost();
    return nullptr;
  }
  if (Record* record = TakeFree(thread, thread->early_in == 0 ? kFewRecords : kRecordsPerThread))
    return record;
  const bool in_time = IsAnyFree(thread);
  if (Search(thread, live_stack)) thread->reclaim_in = thread->early_in = 0;
  if (Record* record = TakeFree(thread, kRecordsPerThread)) {
    if (in_time) thread->reclaim_in = 0;
    return record;
  }
  CountLost();
  return nullptr;
}

__attribute__((cold)) bool MakeCounters(ThreadState* thread) {
  if (!intercept::Populate(reinterpret_cast<uint64_t>(thread->counters),
                           process.counter_slot_bytes)) {
    CountLost();
    return false;
  }
  fieldcost_counters = thread->counters;
  return true;
}

__attribute__((cold)) shm::Cell* MakeCells(ThreadState* thread, uint32_t pick) {
  if (thread->ready[pick] == kCellsRefused) {
    CountLost();
    return nullptr;
  }
  const uint64_t cells = thread->cells + pick * process.pick_bytes;
  if (!intercept::Populate(cells, process.pick_bytes)) {
    thread->ready[pick] = kCellsRefused;
    CountLost();
    return nullptr;
  }
  thread->ready[pick] = kCellsReady;
  return reinterpret_cast<shm::Cell*>(cells);
}

}  // namespace fieldcost::preload
