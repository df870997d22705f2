#include "agent/events_preload/event_thread_state.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#include "agent/events_preload/event_calls.h"
#include "agent/intercept/mapped_memory.h"
#include "agent/intercept/thread_slots.h"

namespace fieldcost::events_preload {

using intercept::SystemCall;

__thread ThreadState* fieldcost_current_thread;

namespace {

__thread intercept::SlotBackoff backoff;

// Allocates the memory that a slot keeps for all its threads. Returns false if there is none.
bool MakeMemory(ThreadState* thread, uint32_t slot) {
  if (thread->frames != nullptr) return true;
  thread->slot = slot;
  thread->records = process.records + uint64_t{slot} * kRecords;
  thread->shared = process.InFile<shm::TraceThread>(shm::TraceThreadsOffset(), slot);
  constexpr uint64_t kBytes = sizeof(Frame) * kFrames;
  void* const frames = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (frames == MAP_FAILED) return false;
  madvise(frames, kBytes, MADV_DONTFORK);
  thread->frames_ready = static_cast<Frame*>(frames);
  thread->frames = thread->frames_ready;
  shm::TraceNode* const root =
      intercept::Populate(reinterpret_cast<uint64_t>(thread->shared), sizeof *thread->shared) &&
              intercept::Populate(reinterpret_cast<uint64_t>(thread->records),
                                  sizeof(Record) * kRecords) &&
              MakeRoomForFrames(thread)
          ? MakeRoot(thread)
          : nullptr;
  if (root == nullptr) {
    munmap(frames, kBytes);
    thread->frames = nullptr;
    return false;
  }
  thread->frames[0] = {~uint64_t{0}, &thread->frames[0].site, 0, 0, 0, 0, root, nullptr};
  thread->top = thread->frames;
  thread->shared->root = NumberOf(root);
  thread->shared->metrics = shm::kTraceThreadMetrics;
  return true;
}

void OpenRings(ThreadState* thread) {
  CloseRing(&thread->fault_ring);
  CloseRing(&thread->switch_ring);
  thread->fault_ring = OpenPageFaultRing();
  thread->switch_ring = OpenContextSwitchRing();
  uint32_t measured = shm::kTraceThreadMetrics;
  if (thread->fault_ring.mapped == nullptr) measured &= ~(1U << shm::kTracePageFaults);
  if (thread->switch_ring.mapped == nullptr) measured &= ~(1U << shm::kTraceContextSwitches);
  thread->shared->metrics &= measured;
  thread->fault_head = thread->fault_ring.head;
  thread->switch_head = thread->switch_ring.head;
  thread->faults_seen = *thread->fault_head;
  thread->switches_seen = *thread->switch_head;
}

bool Prepare(ThreadState* thread, uint32_t slot, uint32_t tid) {
  thread->busy_at = 0;
  thread->counting_stopped = 0;
  thread->too_deep = 0;
  if (!intercept::Populate(reinterpret_cast<uint64_t>(thread), sizeof *thread) ||
      !MakeMemory(thread, slot)) {
    return false;
  }
  while (thread->top != thread->frames) Leave(thread);  // a dead thread never returned from these
  thread->stack = intercept::StackOf(tid, thread->scratch);
  thread->edge = &thread->no_edge;
  thread->block = 0;
  OpenRings(thread);
  shm::TraceThread* const shared = thread->shared;
  const uint64_t now = intercept::ReadTimeStamp();
  if (shared->threads == 0) {
    shared->first_ticks = now;
  } else {
    shared->between_ticks += TicksSince(thread, shared->last_ticks, now);
  }
  shared->last_ticks = now;
  thread->edge_ticks = now;
  shared->tid = tid;
  shared->current = shared->root;
  __atomic_store_n(&shared->threads, shared->threads + 1, __ATOMIC_RELEASE);
  return true;
}

}  // namespace

__attribute__((cold)) ThreadState* TakeSlot() {
  ThreadState* const thread =
      intercept::TakeThreadSlot(process.threads, shm::kThreadSlots, &backoff, Prepare);
  if (thread != nullptr) return fieldcost_current_thread = thread;
  __atomic_fetch_add(&process.header->lost_events, 1, __ATOMIC_RELAXED);
  return nullptr;
}

__attribute__((cold)) bool Interrupts(ThreadState* thread, uint64_t here) {
  const bool was_left = thread->stack.WasLeft(thread->busy_at, here);
  if (!was_left) ++thread->shared->lost_events;
  return !was_left;
}

__attribute__((noinline)) void ChargeRings(ThreadState* thread) {
  const uint64_t faults_now = *thread->fault_head;
  const uint64_t switches_now = *thread->switch_head;
  const uint64_t faults = (faults_now - thread->faults_seen) / kBytesOfPageFault;
  const uint64_t switches = (switches_now - thread->switches_seen) / kBytesOfContextSwitch;
  thread->faults_seen += faults * kBytesOfPageFault;
  thread->switches_seen += switches * kBytesOfContextSwitch;
  uint64_t* const values = thread->top->node->values;
  values[shm::kTracePageFaults] += faults;
  values[shm::kTraceContextSwitches] += switches;
  thread->edge->faults += faults;
}

__attribute__((cold)) uint64_t ClockStep(ThreadState* thread) {
  ++thread->shared->clock_steps;
  return 0;
}

}  // namespace fieldcost::events_preload
