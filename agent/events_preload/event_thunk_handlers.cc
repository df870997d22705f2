// The beginning and end of an API's call, called by machine_thunk.S.
#include <stdint.h>

#include "agent/events_preload/event_calls.h"
#include "agent/intercept/notice.h"

namespace fieldcost::events_preload {

using intercept::Entry;

namespace {

constexpr uint32_t kMostSearched = 4096;

// A tail-called function has its caller's place.
void LeaveGoneBefore(ThreadState* thread, uint64_t here, bool is_tail_call) {
  if (thread->top->return_slot == here && is_tail_call) return;
  LeaveGone(thread, here);
}

Record* Begin(ThreadState* thread, uint32_t api, const uint64_t* return_slot) {
  const auto here = reinterpret_cast<uint64_t>(return_slot);
  LeaveGoneBefore(thread, here, intercept::IsTailCall(return_slot));
  shm::TraceNode* const node = ChildOf(thread, thread->top->node, shm::kTraceApiPlace | api);
  Record* const record = intercept::BeginRecord(thread, kRecords, thread->top->record, api,
                                                process.targets[api].address, return_slot);
  if (record == nullptr) {
    if (node != thread->top->node) ++node->calls;
    __atomic_fetch_add(&process.header->lost_calls, 1, __ATOMIC_RELAXED);
    return nullptr;
  }
  record->start_ticks = thread->shared->last_ticks;
  Frame frame;
  frame.return_slot = here;
  // Another stack may be unmapped before it is checked.
  frame.check = thread->stack.Holds(here) ? return_slot : nullptr;
  frame.place = shm::kTraceApiPlace | api;
  frame.site = intercept::ThunkReturn();
  frame.here = here;
  frame.hook = 0;
  frame.record = record;
  record->state = intercept::kActive;
  if (Push(thread, node, frame)) return record;
  --thread->too_deep;
  record->state = intercept::kFree;
  return nullptr;
}

// Handles the end of a call whose frame is not the innermost one: either the frames above were
// left, or it was itself taken for abandoned and returns after all.
__attribute__((noinline)) void EndFromBelow(ThreadState* thread, const Record* record) {
  const Frame* found = thread->top;
  for (uint32_t i = 0; i < kMostSearched && found > thread->frames && found->record != record;
       ++i) {
    --found;
  }
  if (found->record != record) {
    ++thread->shared->unmatched_exits;
    return;
  }
  while (thread->top > found) Leave(thread);
  Pop(thread);
}

}  // namespace

extern "C" __attribute__((visibility("hidden"))) Entry fieldcost_thunk_enter(
    uint32_t what, const uint64_t* return_slot) {
  if ((what & intercept::kNoticeFlag) != 0) {
    return intercept::EnterNotice(what, return_slot, Takes(kAttached));
  }
  const Entry straight = {nullptr, process.targets[what].address};
  ThreadState* const thread = BeginEvent(shm::kTraceCalls, reinterpret_cast<uint64_t>(return_slot));
  if (thread == nullptr) return straight;
  Charge(thread);
  Record* const record = Begin(thread, what, return_slot);
  EndEvent(thread);
  return record != nullptr ? Entry{record, record->target} : straight;
}

// A child of fork() comes here as well: it has records, but nothing else of ours.
extern "C" __attribute__((visibility("hidden"))) void fieldcost_thunk_exit(Record* record,
                                                                           uint64_t /*end_ticks*/) {
  if (!Takes(shm::kTraceCalls)) {
    record->state = intercept::kReturned;
    return;
  }
  if (record->owner != fieldcost_current_thread) {
    __atomic_fetch_add(&process.header->moved_calls, 1, __ATOMIC_RELAXED);
    return __atomic_store_n(&record->state, intercept::kReturned, __ATOMIC_RELEASE);
  }
  ThreadState* const thread = BeginEvent(shm::kTraceCalls, record->stack_pointer);
  if (thread == nullptr) {
    record->state = intercept::kReturned;
    return;
  }
  Charge(thread);
  if (__builtin_expect(thread->top->record == record, 1)) {
    Pop(thread);
  } else {
    EndFromBelow(thread, record);
  }
  intercept::FreeRecord(thread, record);
  EndEvent(thread);
}

}  // namespace fieldcost::events_preload
