#include "agent/events_preload/event_calls.h"

#include "agent/intercept/mapped_memory.h"

namespace fieldcost::events_preload {

__attribute__((noinline)) bool IsGone(const ThreadState* thread, uint64_t return_slot) {
  const Frame& top = *thread->top;
  if (thread->top == thread->frames) return false;
  if (top.record != nullptr &&
      __atomic_load_n(&top.record->state, __ATOMIC_RELAXED) == intercept::kReturned) {
    return true;
  }
  if (!thread->stack.Holds(return_slot) || !thread->stack.Holds(top.return_slot)) return false;
  if (top.return_slot <= return_slot) return true;
  // The thunk itself holds the return address until the call has begun, and after it has ended.
  const bool is_beginning = top.record != nullptr && *top.check == top.record->return_address;
  return *top.check != top.site && !is_beginning;
}

__attribute__((noinline)) void Leave(ThreadState* thread) {
  Record* const record = thread->top->record;
  if (record != nullptr) {
    if (record->state == intercept::kReturned) {
      record->state = intercept::kFree;
    } else if (record->state == intercept::kActive) {
      record->state = intercept::kDropped;
    }
  }
  ++thread->shared->left_frames;
  thread->too_deep = 0;
  Pop(thread);
}

__attribute__((cold)) bool MakeRoomForFrames(ThreadState* thread) {
  constexpr uint64_t kStep = 64 << 10;
  Frame* const ready = thread->frames_ready;
  if (ready < thread->frames + kFrames &&
      intercept::Populate(reinterpret_cast<uint64_t>(ready), kStep)) {
    thread->frames_ready = ready + kStep / sizeof(Frame);
    return true;
  }
  ++thread->too_deep;
  return false;
}

}  // namespace fieldcost::events_preload
