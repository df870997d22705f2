#include "agent/probe_preload/calls.h"

namespace fieldcost::probe_preload {
namespace {

constexpr uint32_t kMostSearched = 4096;

uint64_t ThunkReturn() { return reinterpret_cast<uint64_t>(intercept::fieldcost_thunk_return); }

void Leave(ThreadState* thread) {
  Record* const record = thread->innermost;
  thread->innermost = record->outer;
  record->state = record->state == kReturned ? kFree : kDropped;
}

// Whether the innermost call is certainly over, seen from one whose return address is at `here`: on
// the thread's own stack it lies below. What was called by tail call lies at its caller's place.
bool IsGone(const ThreadState* thread, uint64_t here, bool is_tail_call) {
  const Record* const record = thread->innermost;
  if (__atomic_load_n(&record->state, __ATOMIC_ACQUIRE) == kReturned) return true;
  if (!thread->stack.Holds(here) || !thread->stack.Holds(record->stack_pointer)) return false;
  return record->stack_pointer < here || (record->stack_pointer == here && !is_tail_call);
}

// Calls that tail-call each other share a place: each is told from who called it. 0: they are too
// many.
uint64_t FrameIdAt(const ThreadState* thread, uint64_t here) {
  const uint64_t callee = here + sizeof(uint64_t);
  const Record* const outer = thread->innermost;
  if (outer == nullptr || outer->stack_pointer != here) return callee + sizeof(uint64_t);
  return outer->frame_id - 1 > callee ? outer->frame_id - 1 : 0;
}

// A free one, else one whose call was left for good; null if there is none.
Record* TakeRecord(ThreadState* thread) {
  uint32_t at = thread->lowest_free;
  while (at < kRecords && thread->records[at].state != kFree) ++at;
  thread->lowest_free = at < kRecords ? at + 1 : kRecords;
  if (at == kRecords && process.never_reuse == 0) {
    for (at = 0; at < kRecords && thread->records[at].state != kDropped; ++at) {
    }
  }
  return at < kRecords ? &thread->records[at] : nullptr;
}

}  // namespace

Record* BeginCall(ThreadState* thread, uint32_t what, const uint64_t* return_slot) {
  const auto here = reinterpret_cast<uint64_t>(return_slot);
  const bool is_tail_call = *return_slot == ThunkReturn();
  while (thread->innermost != nullptr && IsGone(thread, here, is_tail_call)) Leave(thread);
  const uint64_t frame_id = FrameIdAt(thread, here);
  Record* const record = frame_id != 0 ? TakeRecord(thread) : nullptr;
  if (record == nullptr) return nullptr;
  record->target = process.targets[what].address;
  record->return_address = *return_slot;
  record->stack_pointer = here;
  record->frame_id = frame_id;
  record->owner = thread;
  record->what = what;
  record->outer = thread->innermost;
  record->state = kActive;
  thread->innermost = record;
  return record;
}

void EndCall(ThreadState* thread, Record* record) {
  const Record* found = thread->innermost;
  for (uint32_t i = 0; i < kMostSearched && found != nullptr && found != record; ++i) {
    found = found->outer;
  }
  if (found == record) {
    while (thread->innermost != record) Leave(thread);
    thread->innermost = record->outer;
  }
  record->state = kFree;
  const auto index = static_cast<uint32_t>(record - thread->records);
  if (index < thread->lowest_free) thread->lowest_free = index;
}

void LeaveAll(ThreadState* thread) {
  while (thread->innermost != nullptr) Leave(thread);
}

}  // namespace fieldcost::probe_preload
