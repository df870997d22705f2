#pragma once

// A thread's state: the frames on its stack, and the tree that they form. Runs inside other
// people's functions: no libc call, no vector register, no lock.

#include <stddef.h>
#include <stdint.h>

#include "agent/events_preload/event_process.h"
#include "agent/events_preload/rings.h"
#include "agent/intercept/call_records.h"
#include "agent/intercept/hidden_io.h"
#include "agent/intercept/mappings.h"
#include "agent/intercept/thunk.h"
#include "agent/intercept/x86_64/machine.h"

namespace fieldcost::events_preload {

inline constexpr uint32_t kRecords = 512;               // calls of APIs in progress, per thread
inline constexpr uint32_t kFrames = uint32_t{1} << 18;  // per thread; populated as needed

// A call of an API that a thunk intercepts.
// Its start_ticks are for external readers.
struct Record : intercept::CallRecord<ThreadState> {};

// A call in progress. While `*check == site`, it may still be on the stack.
struct Frame {
  uint64_t return_slot;   // location of its return address; if that is unknown, at or below it
  const uint64_t* check;  // the same; if the location is unknown or may vanish, points to `site`
  uint64_t site;          // value of the return slot; for a thunk's calls, its own address
  uint64_t here;          // stack pointer when the hook was called
  uint64_t place;         // as in a node
  uint64_t hook;          // return address of the function's call of our hook; 0: a thunk's call
  shm::TraceNode* node;
  Record* record;  // or null
};

struct EdgeEntry {
  uint64_t from;
  uint64_t to;
  shm::TraceEdge* edge;  // null: none
  uint64_t reserved;
};

// A hash table with open addressing, in its own memory, which is doubled as needed.
struct Table {
  void* entries;
  uint64_t bytes;
  uint32_t mask;  // entries - 1
  uint32_t used;
};

// Numbers in a chunk that the thread has not used yet.
struct OpenChunk {
  shm::TraceChunk* chunk;
  uint32_t next;
  uint32_t end;
};

// One thread's slot. Slots outlive their thread and are taken over by a later one. Not inherited by
// a child of fork().
struct ThreadState {
  Frame* top;  // innermost; the first frame is the root's
  shm::TraceThread* shared;
  uint64_t busy_at;  // stack address of the event that is being recorded; 0: none
  const volatile uint64_t* fault_head;
  uint64_t faults_seen;
  const volatile uint64_t* switch_head;
  uint64_t switches_seen;
  shm::TraceEdge* edge;  // where time and counts of the most recent branch are charged
  uint64_t block;        // the block that this branch led to
  uint64_t edge_ticks;
  intercept::StackRange stack;  // its own
  Frame* frames;
  Frame* frames_ready;        // end of the populated frames
  uint32_t too_deep;          // calls beyond kFrames
  uint32_t counting_stopped;  // for allocations
  uint32_t slot;
  uint32_t owner_tid;  // 0 = never used; a dead thread's id = free
  uint32_t lowest_free;
  Record* records;
  Table children;
  Table edges;
  OpenChunk node_chunk;
  OpenChunk edge_chunk;
  shm::TraceEdge no_edge;  // before the first branch
  Ring fault_ring;
  Ring switch_ring;
  char scratch[4096];  // for reading /proc/self/maps
};

extern "C" __attribute__((visibility("hidden"))) __thread ThreadState* fieldcost_current_thread;

// Takes a slot for this thread. Returns null (and counts a lost event) if none is left.
ThreadState* TakeSlot();
inline ThreadState* CurrentThread() {
  ThreadState* const thread = fieldcost_current_thread;
  return __builtin_expect(thread != nullptr, 1) ? thread : TakeSlot();
}

// Returns true, and counts it, if an event at `here` interrupts another one; false if that one was
// abandoned by a signal handler that jumped out of it.
bool Interrupts(ThreadState* thread, uint64_t here);

// Begins an event. Returns its thread, which records no other event until EndEvent(); null if this
// event cannot be recorded. `here` is an address in the stack frame that causes the event.
inline ThreadState* BeginEvent(uint32_t events, uint64_t here) {
  if (!Takes(events)) return nullptr;
  ThreadState* const thread = CurrentThread();
  if (__builtin_expect(thread == nullptr, 0)) return nullptr;
  if (__builtin_expect(thread->busy_at != 0, 0) && Interrupts(thread, here)) return nullptr;
  thread->busy_at = here;
  __atomic_store_n(&thread->shared->busy, 1, __ATOMIC_RELAXED);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  return thread;
}
inline void EndEvent(ThreadState* thread) {
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  __atomic_store_n(&thread->shared->busy, 0, __ATOMIC_RELAXED);
  thread->busy_at = 0;
}

// Charges the kernel's counts since the last event to the innermost node.
void ChargeRings(ThreadState* thread);

inline void LookAtRings(ThreadState* thread) {
  if (__builtin_expect(*thread->fault_head != thread->faults_seen, 0) ||
      __builtin_expect(*thread->switch_head != thread->switches_seen, 0)) {
    ChargeRings(thread);
  }
}

// Returns the time since the last event, which was at `last`; 0 if the clock went backwards.
uint64_t ClockStep(ThreadState* thread);
inline uint64_t TicksSince(ThreadState* thread, uint64_t last, uint64_t now) {
  return __builtin_expect(now >= last, 1) ? now - last : ClockStep(thread);
}

// Records at the innermost node why bytes since the last event are not measured.
inline void NoteNotMeasured(ThreadState* thread) {
  shm::TraceNode* const node = thread->top->node;
  node->not_measured = (node->not_measured | intercept::fieldcost_hidden_io) & shm::kAllNotMeasured;
  intercept::fieldcost_hidden_io = 0;
}

// Charges everything measured since the last event to the innermost node. External readers rely on
// the order: charges are never ahead of last_ticks.
inline void Charge(ThreadState* thread) {
  const uint64_t now = intercept::ReadTimeStamp();
  shm::TraceThread* const shared = thread->shared;
  const uint64_t ticks = TicksSince(thread, shared->last_ticks, now);
  __atomic_store_n(&shared->last_ticks, now, __ATOMIC_RELAXED);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  thread->top->node->ticks += ticks;
  if (__builtin_expect(intercept::fieldcost_hidden_io != 0, 0)) NoteNotMeasured(thread);
  LookAtRings(thread);
}

}  // namespace fieldcost::events_preload
