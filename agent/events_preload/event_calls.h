#pragma once

#include <stdint.h>

#include "agent/events_preload/event_thread_state.h"
#include "agent/events_preload/thread_tree.h"

namespace fieldcost::events_preload {

// The frames of a thread: calls that have begun and not ended. All functions REQUIRE that an event
// has begun and that its time has been charged.

// Returns whether the innermost frame is certainly gone, as seen from a frame whose return address
// is at `return_slot`: on the thread's own stack, it is gone if it is below that, or if its
// location holds something else. On other stacks (fibres, signals) nothing is certain.
bool IsGone(const ThreadState* thread, uint64_t return_slot);

// Pops the innermost frame, which was left by longjmp or an exception.
void Leave(ThreadState* thread);

inline void LeaveGone(ThreadState* thread, uint64_t return_slot) {
  while (__builtin_expect(thread->top->return_slot <= return_slot, 0) ||
         __builtin_expect(*thread->top->check != thread->top->site, 0)) {
    if (!IsGone(thread, return_slot)) return;
    Leave(thread);
  }
}

// Populates more frames. Returns false, and counts the call as too deep, if there is no memory.
bool MakeRoomForFrames(ThreadState* thread);

// Pushes a frame of that node; without `check`, its location is unknown. Returns false if the stack
// is too deep.
inline bool Push(ThreadState* thread, shm::TraceNode* node, const Frame& frame) {
  Frame* const next = thread->top + 1;
  // A call that was folded into its caller's node is not counted there.
  if (__builtin_expect(node != thread->top->node, 1)) ++node->calls;
  if (__builtin_expect(next == thread->frames_ready, 0) && !MakeRoomForFrames(thread)) return false;
  *next = frame;
  next->node = node;
  if (frame.check == nullptr) next->check = &next->site;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  thread->top = next;
  thread->shared->current = NumberOf(node);
  return true;
}
inline void Pop(ThreadState* thread) {
  --thread->top;
  thread->shared->current = NumberOf(thread->top->node);
}

}  // namespace fieldcost::events_preload
