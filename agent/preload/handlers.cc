#include <stdint.h>

#include "agent/preload/measuring.h"

// The two ends of a measured call, called by x86_64/thunk.S inside somebody else's program: no libc
// call, no vector register, no lock, no errno.

namespace fieldcost::preload {

extern "C" const char fieldcost_thunk_return[];

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

inline void RecordCall(const ThreadState* thread, const Record& record, uint64_t ticks,
                       shm::Cell* cells) {
  __extension__ using Wide = unsigned __int128;
  const PickState& pick = process.picks[record.pick];
  if (FIELDCOST_LIKELY(pick.metrics & shm::kTimeMetrics)) {
    ticks = ticks > process.bias_ticks ? ticks - process.bias_ticks : 0;
    AddToCell(cells, static_cast<uint64_t>((Wide{ticks} * process.ticks_to_ns) >> 32));
  }
  // Counters are a thread's own: a call that came back on another thread has no difference.
  if ((pick.metrics & shm::kAllocMetrics) != 0 && record.owner == thread) {
    AddToCell(cells + pick.alloc_index, thread->allocated_inclusive - record.allocated_inclusive);
    AddToCell(cells + pick.alloc_index + 1,
              thread->allocated_exclusive - record.allocated_exclusive);
  }
  if (!FIELDCOST_LIKELY(record.superseded == 0) && cells->abandoned > 0) --cells->abandoned;
}

}  // namespace

extern "C" __attribute__((visibility("hidden"))) Entry fieldcost_thunk_enter(
    uint32_t pick, const uint64_t* return_slot) {
  const PickState& state = process.picks[pick];
  const Entry straight = {nullptr, state.target};
  if (!IsAttached()) return straight;
  ThreadState* const thread = CurrentThread();
  if (!FIELDCOST_LIKELY(thread != nullptr)) return straight;
  Record* const outer = thread->active;
  if (outer != nullptr) {
    if (IsNested(outer, return_slot)) {
      if (shm::Cell* cell = CellsOf(thread, pick)) ++cell->nested;
      return straight;
    }
    outer->superseded = 1;
    if (shm::Cell* cell = CellsOf(thread, outer->pick)) ++cell->abandoned;
    thread->active = nullptr;
  }
  Record* record = &thread->records[0];
  if (!FIELDCOST_LIKELY(TakeOnThisThread(&record->in_use))) {
    // Whoever had this very stack slot before us is gone, unless it tail-called us.
    const auto here = reinterpret_cast<uint64_t>(return_slot);
    record = TakeRecord(thread, IsTailCall(return_slot) ? here : here + 1);
    if (record == nullptr) return straight;
  }
  record->target = state.target;
  record->stack_pointer = reinterpret_cast<uint64_t>(return_slot);
  record->owner = thread;
  record->pick = pick;
  record->superseded = 0;
  record->allocated_inclusive = thread->allocated_inclusive;
  record->allocated_exclusive = thread->allocated_exclusive;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  thread->active = record;
  record->start_ticks = ReadTimeStamp();
  return {record, state.target};
}

extern "C" __attribute__((visibility("hidden"))) void fieldcost_thunk_exit(Record* record) {
  const uint64_t end_ticks = ReadTimeStamp();
  // A child of fork() comes back through here too, detached.
  ThreadState* const thread = IsAttached() ? CurrentThread() : nullptr;
  if (FIELDCOST_LIKELY(thread != nullptr)) {
    Record* const active = thread->active;
    NoMeasuring guard(thread, active == record ? nullptr : active);
    if (shm::Cell* const cells = CellsOf(thread, record->pick)) {
      RecordCall(thread, *record, end_ticks - record->start_ticks, cells);
    }
    ThreadState* const owner = record->owner;
    if (!FIELDCOST_LIKELY(owner == thread) && owner->active == record) owner->active = nullptr;
  }
  __atomic_store_n(&record->in_use, 0, __ATOMIC_RELEASE);
}

}  // namespace fieldcost::preload
