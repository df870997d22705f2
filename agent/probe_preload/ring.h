#pragma once

// The hit itself. Runs inside other people's functions: no libc call except clock_gettime where the
// TSC is not a usable clock, no vector register, no lock.

#include <stdint.h>

#include "agent/intercept/x86_64/machine.h"
#include "agent/probe_preload/probe_thread_state.h"

namespace fieldcost::probe_preload {

struct Hit {
  shm::ProbeKind kind;
  uint16_t flags;  // shm::ProbeRecordFlag
  uint32_t site;   // number
  uint64_t ticks;
  shm::ProbeEventId event;
  uint64_t value;
  uint64_t parent;
  const shm::ProbeRegisters* registers;  // null: without a stack
};

uint64_t ClockTicks();  // where the TSC is not a usable clock
inline uint64_t Now() {
  if (__builtin_expect(process.multiplier == 0, 0)) return ClockTicks();
  return intercept::ReadTimeStampWhenDone();
}

// Count a lost hit and, if points are on, mark its event, if any, as incomplete.
void LoseWithoutRing(const shm::ProbeEventId& event);
void Interrupted(ThreadState* thread, const shm::ProbeEventId& event);
void TellIncomplete(const shm::ProbeEventId& event);  // REQUIRES: Attached()

inline constexpr shm::ProbeEventId kNoEvent = {0, 0};

// Begins a hit. Returns the thread, which records no other hit until EndHit(). Returns null if this
// hit cannot be recorded, which makes `event` incomplete. `here` is an address in the stack frame
// that causes the hit.
inline ThreadState* BeginHit(Asks asks, uint64_t here, const shm::ProbeEventId& event) {
  ThreadState* const thread = CurrentThread(asks);
  if (__builtin_expect(thread == nullptr, 0)) {
    LoseWithoutRing(event);
    return nullptr;
  }
  if (__builtin_expect(thread->busy_at != 0, 0) && Interrupts(thread, here)) {
    Interrupted(thread, event);
    return nullptr;
  }
  thread->busy_at = here;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  return thread;
}
inline void EndHit(ThreadState* thread) {
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  thread->busy_at = 0;
}

// Rare or large cases of Put().
void PutWithStack(ThreadState* thread, const Hit& hit);
bool MakeRoom(ThreadState* thread, uint64_t bytes);
void Drop(ThreadState* thread, const shm::ProbeEventId& event);

inline shm::ProbeRecord* Place(const ThreadState* thread) {
  return reinterpret_cast<shm::ProbeRecord*>(
      thread->data + ((thread->head - thread->origin) & (thread->size - 1)));
}
inline void Fill(ThreadState* thread, shm::ProbeRecord* record, const Hit& hit) {
  record->kind = hit.kind;
  record->site = hit.site;
  record->thread = thread->tid;
  record->ticks = hit.ticks;
  record->sequence = thread->sequence;
  record->event = hit.event;
  record->value = hit.value;
  record->parent = hit.parent;
}
// Makes a record visible: a reader sees all of it or nothing, even if the program is killed.
inline void Publish(ThreadState* thread, uint64_t bytes) {
  thread->head += bytes;
  __atomic_store_n(&thread->ring->head, thread->head, __ATOMIC_RELEASE);
}

// REQUIRES: the hit has begun.
inline void Put(ThreadState* thread, const Hit& hit) {
  ++thread->sequence;
  if (__builtin_expect(hit.registers != nullptr, 0)) return PutWithStack(thread, hit);
  constexpr uint64_t kBytes = sizeof(shm::ProbeRecord);
  if (__builtin_expect(thread->limit - thread->head < kBytes, 0) && !MakeRoom(thread, kBytes)) {
    return Drop(thread, hit.event);
  }
  shm::ProbeRecord* const record = Place(thread);
  record->size_bytes = kBytes;
  record->stack_bytes = 0;
  record->flags = hit.flags;
  Fill(thread, record, hit);
  Publish(thread, kBytes);
}

}  // namespace fieldcost::probe_preload
