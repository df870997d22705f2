#include <stdint.h>

#include "agent/preload/measuring.h"

// The two ends of a measured call, called by x86_64/thunk.S inside somebody else's program: no libc
// call, no vector register, no lock, no errno.

namespace fieldcost::preload {

// Returned in rax:rdx. A null record means: go straight to the function.
struct Entry {
  Record* record;
  uint64_t target;
};

namespace {

bool IsTailCall(const uint64_t* return_slot) {
  return *return_slot == reinterpret_cast<uint64_t>(fieldcost_thunk_return);
}

// True if this call is made from inside the measured call `outer`. A frame further down the stack
// is; one at the same place is too if it was tail-called (its return address is the thunk's). A
// frame further up means that `outer` was left by longjmp or an exception, or is on another stack.
bool IsNested(const Record* outer, const uint64_t* return_slot) {
  const auto here = reinterpret_cast<uint64_t>(return_slot);
  if (outer->stack_pointer > here) return true;
  return outer->stack_pointer == here && IsTailCall(return_slot);
}

// True if the thread went on without `active`, although that lies further up (or is busy): its
// stack slot no longer holds what it must while it is in progress. Only the thread's own stack is
// looked at: other stacks may be gone. Wrong in the middle of an entry, which does no harm: a
// superseded call that returns after all is counted.
bool IsGone(const ThreadState* thread, Record* active, uint64_t here) {
  const Record* const record = RecordOf(active);
  const uint64_t place = record->stack_pointer;
  if (here < thread->stack_begin || here >= thread->stack_end) return false;
  if (place < thread->stack_begin || place >= thread->stack_end) return false;
  if (place <= here) return IsBusy(active);
  const uint64_t holds = *reinterpret_cast<const uint64_t*>(place);
  if (holds == reinterpret_cast<uint64_t>(fieldcost_thunk_return)) return false;
  return !IsBusy(active) || holds != record->return_address;
}

// Fills a record that was just taken and makes it the thread's active one. The time stamp last.
inline void Begin(ThreadState* thread, Record* record, uint32_t pick, const uint64_t* return_slot,
                  shm::Cell* cells) {
  const PickState& state = process.picks[pick];
  record->target = state.target;
  record->stack_pointer = reinterpret_cast<uint64_t>(return_slot);
  record->cells = cells;
  record->pick = pick;
  record->usual_pick = state.metrics == shm::kTimeMetrics ? pick : kNoPick;
  record->superseded = 0;
  record->allocated_inclusive = thread->allocated_inclusive;
  record->allocated_exclusive = thread->allocated_exclusive;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  thread->active = record;
  record->start_ticks = ReadTimeStamp();
}

inline void RecordTime(const Record& record, uint64_t end_ticks, shm::Cell* cells) {
  __extension__ using Wide = unsigned __int128;
  const uint64_t ticks = end_ticks - record.start_ticks;
  const uint64_t own = ticks > process.bias_ticks ? ticks - process.bias_ticks : 0;
  AddToCell(cells, static_cast<uint64_t>((Wide{own} * process.ticks_to_ns) >> 32));
}

// Everything but a timed call that comes back where it began: allocation, fibres that moved to
// another thread, records thought abandoned, and children of fork().
__attribute__((noinline)) void ExitUnusual(Record* record) {
  const bool attached = IsAttached();
  const uint64_t end_ticks = attached ? ReadTimeStamp() : 0;  // see sandbox.h
  ThreadState* const thread = attached ? CurrentThread() : nullptr;
  shm::Cell* const cells = thread == nullptr ? nullptr : CellsOf(thread, record->pick);
  if (cells != nullptr) {
    Record* const active = thread->active;
    const NoMeasuring guard(thread, record, RecordOf(active) == record ? nullptr : active);
    const PickState& pick = process.picks[record->pick];
    if ((pick.metrics & shm::kTimeMetrics) != 0) RecordTime(*record, end_ticks, cells);
    // Counters are a thread's own: a call that came back on another thread has no difference.
    if ((pick.metrics & shm::kAllocMetrics) != 0 && record->owner == thread) {
      shm::Cell* const inclusive = cells + pick.alloc_index;
      AddToCell(inclusive, thread->allocated_inclusive - record->allocated_inclusive);
      AddToCell(inclusive + 1, thread->allocated_exclusive - record->allocated_exclusive);
    }
    if (record->superseded != 0 && cells->abandoned > 0) --cells->abandoned;
    ThreadState* const owner = record->owner;
    if (owner != thread && owner->active == record) owner->active = nullptr;
  }
  record->superseded = 0;
  record->stack_pointer = 0;  // while it is free and until it is filled it is nowhere
  __atomic_store_n(&record->in_use, 0, __ATOMIC_RELEASE);
}

}  // namespace

// Everything but the usual case, which the thunk does itself: a thread's or a cell's first call,
// nested calls, calls after one that left by longjmp or exception.
extern "C" __attribute__((visibility("hidden"))) Entry fieldcost_thunk_enter(
    uint32_t pick, const uint64_t* return_slot) {
  const Entry straight = {nullptr, process.picks[pick].target};
  if (!IsAttached()) return straight;
  ThreadState* const thread = CurrentThread();
  if (thread == nullptr) return straight;
  shm::Cell* const cells = CellsOf(thread, pick);
  if (cells == nullptr) return straight;
  const auto here = reinterpret_cast<uint64_t>(return_slot);
  if (Record* const active = thread->active) {
    Record* const outer = RecordOf(active);
    if ((IsBusy(active) || IsNested(outer, return_slot)) && !IsGone(thread, active, here)) {
      ++cells->nested;
      return straight;
    }
    outer->superseded = 1;
    outer->usual_pick = kNoPick;  // so that neither end of it takes the short way
    ++outer->cells->abandoned;
    thread->active = nullptr;
  }
  // Whoever had this very stack slot before us is gone, unless it tail-called us.
  Record* const record = TakeRecord(thread, IsTailCall(return_slot) ? here : here + 1);
  if (record == nullptr) return straight;
  Begin(thread, record, pick, return_slot, cells);
  return {record, record->target};
}

extern "C" __attribute__((visibility("hidden"))) void fieldcost_thunk_exit(Record* record) {
  ThreadState* const thread = record->owner;
  if (!FIELDCOST_LIKELY(IsAttached() && thread == fieldcost_current_thread &&
                        thread->active == record && record->usual_pick == record->pick)) {
    return ExitUnusual(record);
  }
  const uint64_t end_ticks = ReadTimeStamp();
  thread->active = Busy(record);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  RecordTime(*record, end_ticks, record->cells);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  record->stack_pointer = 0;
  thread->active = nullptr;
  __atomic_store_n(&record->in_use, 0, __ATOMIC_RELEASE);
}

}  // namespace fieldcost::preload
