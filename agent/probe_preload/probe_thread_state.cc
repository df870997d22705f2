#include "agent/probe_preload/probe_thread_state.h"

#include <sys/syscall.h>

#include "agent/intercept/mapped_memory.h"
#include "agent/intercept/x86_64/machine.h"
#include "agent/probe_preload/probe_calls.h"
#include "agent/probe_preload/probe_run.h"

namespace fieldcost::probe_preload {

using intercept::SystemCall;

__thread Current fieldcost_current;

namespace {

bool MakeRing(ThreadState* thread, uint32_t slot) {
  if (thread->data != nullptr) return true;
  auto* const ring = process.InFile<shm::ProbeRing>(shm::ProbeRingsOffset(), slot);
  auto* const data = process.InFile<uint8_t>(shm::ProbeDataOffset(), slot * shm::kProbeRingBytes);
  Record* const records = process.records + uint64_t{slot} * kRecords;
  if (!intercept::Populate(reinterpret_cast<uint64_t>(ring), sizeof *ring) ||
      !intercept::Populate(reinterpret_cast<uint64_t>(data), shm::kProbeRingBytes)) {
    return false;
  }
  thread->ring = ring;
  thread->records = records;
  thread->size = shm::kProbeRingBytes;
  thread->populated = thread->size;
  thread->limit = thread->head + thread->size;
  thread->data = data;
  return true;
}

bool Prepare(ThreadState* thread, uint32_t slot, uint32_t tid) {
  if (!MakeRing(thread, slot)) return false;
  LeaveAll(thread);  // calls from which a dead thread never returned
  thread->busy_at = 0;
  thread->sequence = 0;
  thread->open_count = 0;
  thread->tid = tid;
  thread->stack = intercept::StackOf(tid, thread->scratch);
  thread->ring->tid = tid;
  __atomic_store_n(&thread->ring->threads, thread->ring->threads + 1, __ATOMIC_RELEASE);
  return true;
}

}  // namespace

__attribute__((cold, noinline)) ThreadState* TakeRing(Asks asks) {
  if (process.epoch == 0 || __atomic_load_n(&intercept::host.detached, __ATOMIC_RELAXED) != 0) {
    return nullptr;
  }
  if (Attached() == 0 && (asks == Asks::kNo || !OpenRunOfChild())) return nullptr;
  Current& current = fieldcost_current;
  const uint32_t epoch = Attached();
  intercept::SlotBackoff backoff{};
  if (current.asked_epoch == epoch) backoff = current.backoff;
  ThreadState* const thread =
      intercept::TakeThreadSlot(process.threads, shm::kProbeRings, &backoff, Prepare);
  current = thread != nullptr ? Current{thread, epoch, 0, {}} : Current{nullptr, 0, epoch, backoff};
  return thread;
}

__attribute__((cold)) bool Interrupts(const ThreadState* thread, uint64_t here) {
  return !thread->stack.WasLeft(thread->busy_at, here);
}

}  // namespace fieldcost::probe_preload
