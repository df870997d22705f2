// Counts allocations of the malloc family during measured calls. Counts bytes as requested (calloc:
// the product; realloc: the new size), and only if the call succeeded. Nothing here touches errno:
// it stays as the real function set it.
#include "agent/intercept/hooks.h"
#include "agent/preload/measuring.h"

namespace fieldcost::preload {
namespace {

// Returns true if the measured call was left by longjmp or an exception without being noticed yet:
// our frame is above its place, or the thunk's return address is no longer there. Checks only the
// thread's own stack: other stacks may be gone.
bool IsOver(const ThreadState* thread, const Record* record) {
  const auto here = reinterpret_cast<uint64_t>(__builtin_frame_address(0));
  const uint64_t place = record->stack_pointer;
  if (!thread->stack.Holds(here)) return false;
  if (!thread->stack.Holds(place)) return false;
  return place < here || *reinterpret_cast<const uint64_t*>(place) != intercept::ThunkReturn();
}

__attribute__((noinline)) void CountMeasured(ThreadState* thread, size_t bytes, uint64_t caller) {
  const Record* const record = thread->active;
  if (IsOver(thread, record)) return;
  const PickState& pick = process.picks[PickOf(*record)];
  thread->allocated_inclusive += bytes;
  // A function that ends in `return malloc(n)` has left its frame: the caller is then our thunk.
  if ((caller >= pick.code_begin && caller < pick.code_end) || caller == intercept::ThunkReturn()) {
    thread->allocated_exclusive += bytes;
  }
  shm::Cell* const cells = CellsOf(thread, PickOf(*record));
  if (cells == nullptr) return;
  NoMeasuring guard(thread, thread->active, thread->active);
  AddToCell(cells + process.alloc_index + 2, bytes, record->weight_log2);
}

// Returns the thread if a call is being measured on it and its cells may be written to; else null.
inline ThreadState* MeasuringThread() {
  if (!IsAttached()) return nullptr;
  ThreadState* const thread = fieldcost_current_thread;
  const bool measures = thread != nullptr && thread->active != nullptr && !IsBusy(thread->active);
  return measures ? thread : nullptr;
}

}  // namespace
}  // namespace fieldcost::preload

namespace fieldcost::intercept {

// Freed blocks are not counted.
size_t SizeOfBlock(const void*) { return 0; }
void OnFree(size_t) {}

void OnAllocation(const void* /*block*/, size_t bytes, uint64_t caller) {
  preload::ThreadState* const thread = preload::MeasuringThread();
  if (thread != nullptr) preload::CountMeasured(thread, bytes, caller);
}

bool StopCountingAllocations() {
  preload::ThreadState* const thread = preload::MeasuringThread();
  if (thread == nullptr) return false;
  thread->active = preload::Busy(thread->active);
  return true;
}

void CountAllocationsAgain() {
  preload::ThreadState* const thread = preload::fieldcost_current_thread;
  if (thread != nullptr) thread->active = preload::RecordOf(thread->active);
}

}  // namespace fieldcost::intercept
