#include "agent/probe_preload/thread_state.h"

#include <errno.h>
#include <sys/syscall.h>

#include "agent/intercept/mapped_memory.h"
#include "agent/intercept/mappings.h"
#include "agent/intercept/x86_64/machine.h"
#include "agent/probe_preload/calls.h"
#include "agent/probe_preload/run.h"

namespace fieldcost::probe_preload {

using intercept::SystemCall;

__thread Current fieldcost_current;

namespace {

// Hits of a thread without a ring before it asks again: asking is a system call for each ring.
constexpr uint32_t kFirstBackoff = 64;
constexpr uint32_t kLastBackoff = 1U << 20;

bool MakeRing(ThreadState* thread, uint32_t slot) {
  if (thread->data != nullptr) return true;
  auto* const ring = InFile<shm::ProbeRing>(shm::ProbeRingsOffset(), slot);
  auto* const data = InFile<uint8_t>(shm::ProbeDataOffset(), slot * shm::kProbeRingBytes);
  Record* const records = process.records + uint64_t{slot} * kRecords;
  if (!intercept::Populate(reinterpret_cast<uint64_t>(ring), sizeof *ring) ||
      !intercept::Populate(reinterpret_cast<uint64_t>(data), shm::kProbeRingBytes)) {
    return false;
  }
  thread->ring = ring;
  thread->records = records;
  thread->data = data;
  return true;
}

ThreadState* Claim(uint32_t slot, uint32_t expected_tid, uint32_t tid) {
  ThreadState* const thread = &process.threads[slot];
  if (!__atomic_compare_exchange_n(&thread->owner_tid, &expected_tid, tid, false, __ATOMIC_ACQ_REL,
                                   __ATOMIC_RELAXED)) {
    return nullptr;
  }
  if (!MakeRing(thread, slot)) {
    __atomic_store_n(&thread->owner_tid, 0, __ATOMIC_RELEASE);
    return nullptr;
  }
  LeaveAll(thread);  // what a dead thread never came back from
  thread->busy_at = 0;
  thread->sequence = 0;
  thread->open_count = 0;
  thread->tid = tid;
  const intercept::StackRange stack = intercept::OwnStack(
      tid == process.pid ? process.stack_top : 0, thread->scratch, sizeof thread->scratch);
  thread->stack_begin = stack.begin;
  thread->stack_end = stack.end;
  thread->ring->tid = tid;
  __atomic_store_n(&thread->ring->threads, thread->ring->threads + 1, __ATOMIC_RELEASE);
  return thread;
}

ThreadState* ClaimAny(uint32_t tid) {
  for (uint32_t slot = 0; slot < shm::kProbeRings; ++slot) {
    const uint32_t owner = __atomic_load_n(&process.threads[slot].owner_tid, __ATOMIC_RELAXED);
    const bool dead =
        owner != 0 && (owner == tid || SystemCall(SYS_tgkill, process.pid, owner, 0) == -ESRCH);
    if (owner != 0 && !dead) continue;
    if (ThreadState* thread = Claim(slot, owner, tid)) return thread;
  }
  return nullptr;
}

}  // namespace

__attribute__((cold, noinline)) ThreadState* TakeRing(Asks asks) {
  if (process.epoch == 0 || __atomic_load_n(&process.detached, __ATOMIC_RELAXED) != 0) {
    return nullptr;
  }
  if (Attached() == 0 && (asks == Asks::kNo || !OpenRunOfChild())) return nullptr;
  Current& current = fieldcost_current;
  const uint32_t epoch = Attached();
  if (current.asked_epoch == epoch && current.ring_in != 0) {
    --current.ring_in;
  } else {
    // A child of vfork() is here with our memory: a ring taken in its name would be free for others
    // when it ends, but the parent would go on with it.
    ThreadState* const thread = SystemCall(SYS_getpid) == process.pid
                                    ? ClaimAny(static_cast<uint32_t>(SystemCall(SYS_gettid)))
                                    : nullptr;
    if (thread != nullptr) {
      current = {thread, epoch, 0, 0, 0};
      return thread;
    }
    const uint32_t backoff = current.asked_epoch == epoch ? current.backoff : kFirstBackoff;
    current = {nullptr, 0, epoch, backoff, backoff < kLastBackoff ? backoff * 2 : backoff};
  }
  return nullptr;
}

__attribute__((cold)) bool Interrupts(const ThreadState* thread, uint64_t here) {
  return !(IsOnOwnStack(thread, here) && IsOnOwnStack(thread, thread->busy_at) &&
           here >= thread->busy_at);
}

}  // namespace fieldcost::probe_preload
