#include "agent/trace_preload/thread_state.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "agent/intercept/mapped_memory.h"
#include "agent/intercept/mappings.h"
#include "agent/trace_preload/calls.h"

namespace fieldcost::trace_preload {

using intercept::SystemCall;

__thread ThreadState* fieldcost_current_thread;

namespace {

// Events of a thread without a slot before it asks again: asking is a system call for each slot.
constexpr uint32_t kFirstBackoff = 64;
constexpr uint32_t kLastBackoff = 1U << 20;
__thread uint32_t slot_in;
__thread uint32_t slot_backoff;

// What a slot keeps for all its threads. False if there is no memory.
bool MakeMemory(ThreadState* thread, uint32_t slot) {
  if (thread->frames != nullptr) return true;
  thread->slot = slot;
  thread->records = process.records + uint64_t{slot} * kRecords;
  thread->shared = InFile<shm::TraceThread>(shm::TraceThreadsOffset(), slot);
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

ThreadState* Claim(uint32_t slot, uint32_t expected_tid, uint32_t tid) {
  ThreadState* const thread = &process.threads[slot];
  if (!__atomic_compare_exchange_n(&thread->owner_tid, &expected_tid, tid, false, __ATOMIC_ACQ_REL,
                                   __ATOMIC_RELAXED)) {
    return nullptr;
  }
  thread->busy_at = 0;
  thread->counting_stopped = 0;
  thread->too_deep = 0;
  if (!intercept::Populate(reinterpret_cast<uint64_t>(thread), sizeof *thread) ||
      !MakeMemory(thread, slot)) {
    __atomic_store_n(&thread->owner_tid, 0, __ATOMIC_RELEASE);
    return nullptr;
  }
  while (thread->top != thread->frames) Leave(thread);  // what a dead thread never came back from
  const intercept::StackRange stack = intercept::OwnStack(
      tid == process.pid ? process.stack_top : 0, thread->scratch, sizeof thread->scratch);
  thread->stack_begin = stack.begin;
  thread->stack_end = stack.end;
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
  return thread;
}

ThreadState* ClaimAny(uint32_t tid) {
  for (uint32_t slot = 0; slot < shm::kThreadSlots; ++slot) {
    const uint32_t owner = __atomic_load_n(&process.threads[slot].owner_tid, __ATOMIC_RELAXED);
    const bool dead =
        owner != 0 && (owner == tid || SystemCall(SYS_tgkill, process.pid, owner, 0) == -ESRCH);
    if (owner != 0 && !dead) continue;
    if (ThreadState* thread = Claim(slot, owner, tid)) return thread;
  }
  return nullptr;
}

}  // namespace

__attribute__((cold)) ThreadState* TakeSlot() {
  if (slot_in == 0) {
    // A child of vfork() is here with our memory: a slot taken in its name would be free for others
    // when it ends, but the parent would go on with it.
    if (SystemCall(SYS_getpid) == process.pid) {
      fieldcost_current_thread = ClaimAny(static_cast<uint32_t>(SystemCall(SYS_gettid)));
    }
    if (fieldcost_current_thread != nullptr) return fieldcost_current_thread;
    slot_in = slot_backoff = slot_backoff == 0 ? kFirstBackoff : slot_backoff;
    if (slot_backoff < kLastBackoff) slot_backoff *= 2;
  } else {
    --slot_in;
  }
  __atomic_fetch_add(&process.header->lost_events, 1, __ATOMIC_RELAXED);
  return nullptr;
}

__attribute__((cold)) bool Interrupts(ThreadState* thread, uint64_t here) {
  const uint64_t busy_at = thread->busy_at;
  const bool was_left =
      IsOnOwnStack(thread, here) && IsOnOwnStack(thread, busy_at) && here >= busy_at;
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

}  // namespace fieldcost::trace_preload
