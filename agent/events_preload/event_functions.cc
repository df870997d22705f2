// The hooks that -finstrument-functions makes code call at the beginning and the end of each
// function.
#include <stdint.h>

#include "agent/events_preload/event_calls.h"

namespace fieldcost::events_preload {
namespace {

// How far above the hook's return address a frame's return address is searched for.
constexpr uint64_t kMostFrameWords = 128;
constexpr uint16_t kWordsNotKnown = 0xffff;
// Maximum number of frames that an exit searches for its function if that is not innermost.
constexpr uint32_t kMostSearched = 4096;

// The arguments of a hook: the function, the address that it returns to, the stack pointer when the
// hook was called, and the address that the hook returns to.
struct HookCall {
  uint64_t function;
  uint64_t site;
  uint64_t here;
  uint64_t hook;
};

bool HoldsAt(uint64_t address, uint64_t value) {
  return *reinterpret_cast<const uint64_t*>(address) == value;
}

// The location of the function's return address. Not `known` on an unknown stack, or if the address
// is not found nearby or found at several places: then it is the lowest one.
struct ReturnSlot {
  uint64_t address;
  bool known;
};

// Searches for the only place nearby that holds the address. The node remembers how far up it was,
// or that this is unknown: a search takes as long as a few calls.
__attribute__((noinline)) ReturnSlot SearchReturnSlot(const ThreadState* thread,
                                                      const HookCall& call, shm::TraceNode* node) {
  uint64_t end = call.here + kMostFrameWords * sizeof(uint64_t);
  if (end > thread->stack.end) end = thread->stack.end;
  uint64_t address = call.here;
  uint32_t found = 0;
  for (uint64_t at = end; at > call.here; at -= sizeof(uint64_t)) {
    if (!HoldsAt(at - sizeof(uint64_t), call.site)) continue;
    address = at - sizeof(uint64_t);
    ++found;
  }
  node->frame_words = found == 1
                          ? static_cast<uint16_t>((address - call.here) / sizeof(uint64_t) + 1)
                          : kWordsNotKnown;
  return {address, found == 1};
}

ReturnSlot ReturnSlotOf(const ThreadState* thread, const HookCall& call, shm::TraceNode* node) {
  if (!thread->stack.Holds(call.here)) return {call.here, false};
  // Directly below the caller's frame, if it was called from there.
  const Frame& top = *thread->top;
  const uint64_t below_caller = top.here - sizeof(uint64_t);
  if (below_caller >= call.here && below_caller < thread->stack.end &&
      HoldsAt(below_caller, call.site)) {
    return {below_caller, true};
  }
  const bool is_inlined = top.here == call.here && top.site == call.site;
  if (is_inlined && top.check != &top.site) return {top.return_slot, true};
  // At the same distance as last time.
  if (node->frame_words == kWordsNotKnown) return {call.here, false};
  const uint64_t likely = call.here + (node->frame_words - 1U) * sizeof(uint64_t);
  if (node->frame_words != 0 && likely < thread->stack.end && HoldsAt(likely, call.site)) {
    return {likely, true};
  }
  return SearchReturnSlot(thread, call, node);
}

// Returns whether a call with the same location as the innermost frame is made by it: either it is
// inlined there (same return address, unless it is a second call from the same line), or a thunk
// has called it.
bool IsWithin(const Frame& top, const HookCall& call) {
  if (top.record != nullptr) {
    return call.site == intercept::ThunkReturn();
  }
  return top.site == call.site && top.hook != call.hook;
}

void Enter(ThreadState* thread, const HookCall& call) {
  LeaveGone(thread, call.here);
  shm::TraceNode* node = ChildOf(thread, thread->top->node, call.function);
  const ReturnSlot slot = ReturnSlotOf(thread, call, node);
  if (__builtin_expect(thread->top->return_slot <= slot.address, 0)) {
    while (thread->top->return_slot <= slot.address && IsGone(thread, slot.address) &&
           !(thread->top->return_slot == slot.address && IsWithin(*thread->top, call))) {
      Leave(thread);
    }
    node = ChildOf(thread, thread->top->node, call.function);
  }
  Frame frame;
  frame.return_slot = slot.address;
  frame.check = slot.known ? reinterpret_cast<const uint64_t*>(slot.address) : nullptr;
  frame.site = call.site;
  frame.here = call.here;
  frame.place = call.function;
  frame.hook = call.hook;
  frame.record = nullptr;
  Push(thread, node, frame);
}

bool IsOf(const Frame& frame, const HookCall& call) {
  return frame.place == call.function && frame.site == call.site && frame.record == nullptr;
}

// Returns the address below which the function can have no frame. A hook that was called by a tail
// call, as the last thing that the function did, sees the stack as it was before the function was
// called.
uint64_t LowestOf(const HookCall& call) {
  return call.hook == call.site ? call.here - sizeof(uint64_t) : call.here;
}

// Handles an exit of a function that is not the innermost frame: the frames above it were left, or
// it was never entered.
__attribute__((noinline)) void ExitFromBelow(ThreadState* thread, const HookCall& call) {
  if (thread->too_deep != 0) {
    --thread->too_deep;
    return;
  }
  const uint64_t lowest = LowestOf(call);
  bool was_last = false;  // the last frame left is the function's: its location is uncertain
  while (thread->top->return_slot < lowest && IsGone(thread, lowest)) {
    was_last = IsOf(*thread->top, call);
    Leave(thread);
  }
  if (was_last && !IsOf(*thread->top, call)) {
    --thread->shared->left_frames;
    return;
  }
  const Frame* found = thread->top;
  for (uint32_t i = 0; i < kMostSearched && found > thread->frames && !IsOf(*found, call); ++i)
    --found;
  if (found == thread->frames || !IsOf(*found, call)) {
    ++thread->shared->unmatched_exits;
    return;
  }
  while (thread->top > found) Leave(thread);
  Pop(thread);
}

void Exit(ThreadState* thread, const HookCall& call) {
  const Frame& top = *thread->top;
  if (__builtin_expect(
          IsOf(top, call) && top.return_slot >= LowestOf(call) && thread->too_deep == 0, 1)) {
    return Pop(thread);
  }
  ExitFromBelow(thread, call);
}

}  // namespace

// Captures the stack when the hook was called: above its return address and its caller's frame
// pointer.
#define FIELDCOST_HOOK_CALL(function, site)                                            \
  {                                                                                    \
    reinterpret_cast<uint64_t>(function), reinterpret_cast<uint64_t>(site),            \
        reinterpret_cast<uint64_t>(__builtin_frame_address(0)) + 2 * sizeof(uint64_t), \
        reinterpret_cast<uint64_t>(__builtin_return_address(0))                        \
  }

extern "C" __attribute__((visibility("default"))) void __cyg_profile_func_enter(void* function,
                                                                                void* site) {
  const HookCall call = FIELDCOST_HOOK_CALL(function, site);
  ThreadState* const thread = BeginEvent(shm::kTraceFunctions, call.here);
  if (thread == nullptr) return;
  Charge(thread);
  Enter(thread, call);
  EndEvent(thread);
}

extern "C" __attribute__((visibility("default"))) void __cyg_profile_func_exit(void* function,
                                                                               void* site) {
  const HookCall call = FIELDCOST_HOOK_CALL(function, site);
  ThreadState* const thread = BeginEvent(shm::kTraceFunctions, call.here);
  if (thread == nullptr) return;
  Charge(thread);
  Exit(thread, call);
  EndEvent(thread);
}

}  // namespace fieldcost::events_preload
