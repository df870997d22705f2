// The functions that each block of code calls with -fsanitize-coverage: gcc's trace-pc, and clang's
// trace-pc-guard, whose guards are not needed since the address suffices.
#include <stdint.h>

#include "agent/events_preload/event_thread_state.h"
#include "agent/events_preload/thread_tree.h"

namespace fieldcost::events_preload {
namespace {

inline void Enter(uint64_t block, uint64_t here) {
  ThreadState* const thread = BeginEvent(shm::kTraceBranches, here);
  if (thread == nullptr) return;
  const uint64_t now = intercept::ReadTimeStamp();
  thread->edge->ticks += TicksSince(thread, thread->edge_ticks, now);
  thread->edge_ticks = now;
  LookAtRings(thread);
  shm::TraceEdge* const edge = EdgeOf(thread, thread->block, block);
  thread->edge = edge != nullptr ? edge : &thread->no_edge;
  thread->block = block;
  ++thread->edge->count;
  EndEvent(thread);
}

}  // namespace

#define FIELDCOST_ENTER_BLOCK()                                  \
  Enter(reinterpret_cast<uint64_t>(__builtin_return_address(0)), \
        reinterpret_cast<uint64_t>(__builtin_frame_address(0)))

extern "C" __attribute__((visibility("default"))) void __sanitizer_cov_trace_pc() {
  FIELDCOST_ENTER_BLOCK();
}

extern "C" __attribute__((visibility("default"))) void __sanitizer_cov_trace_pc_guard(uint32_t*) {
  FIELDCOST_ENTER_BLOCK();
}

extern "C" __attribute__((visibility("default"))) void __sanitizer_cov_trace_pc_guard_init(
    uint32_t*, uint32_t*) {}

}  // namespace fieldcost::events_preload
