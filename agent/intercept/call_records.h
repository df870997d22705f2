#pragma once

// A thread's records of calls in progress, for libraries that record all calls on its stack. Runs
// inside handlers: no libc call, no vector register, no lock.

#include <stddef.h>
#include <stdint.h>

#include "agent/intercept/host.h"
#include "agent/intercept/thunk.h"

namespace fieldcost::intercept {

enum RecordState : uint32_t {
  kFree = 0,
  kActive = 1,
  kDropped = 2,   // left by longjmp or an exception: certainly dead, but reused last
  kReturned = 3,  // on another thread, or without an owner; not yet seen by its owner
};

// The beginning of a record, as the thunk expects it. `Thread` is the library's thread state, with
// `records` and `lowest_free`.
template <typename Thread>
struct CallRecord {
  uint64_t return_address;
  uint64_t saved_register;
  uint64_t target;
  uint64_t stack_pointer;  // address of the stack slot that held the return address
  uint64_t start_ticks;
  uint64_t frame_id;  // its frame's id for unwinders: the address above its return address
  uint32_t state;     // RecordState
  uint32_t thunk;     // the function's
  Thread* owner;
};
static_assert(offsetof(CallRecord<void>, return_address) == FIELDCOST_RECORD_RETURN_ADDRESS);
static_assert(offsetof(CallRecord<void>, saved_register) == FIELDCOST_RECORD_SAVED_REGISTER);
static_assert(offsetof(CallRecord<void>, target) == FIELDCOST_RECORD_TARGET);
static_assert(offsetof(CallRecord<void>, stack_pointer) == FIELDCOST_RECORD_STACK_POINTER);
static_assert(offsetof(CallRecord<void>, start_ticks) == FIELDCOST_RECORD_START_TICKS);
#ifdef FIELDCOST_EVERY_CALL
static_assert(offsetof(CallRecord<void>, frame_id) == FIELDCOST_RECORD_FRAME_ID);
#endif

// Returns the address that identifies a frame to unwinders: the one just above its return address.
// Calls that tail-call each other share that address; each is distinguished from its caller's
// record `outer` (may be null). Returns 0 if there are too many of them.
template <typename Record>
uint64_t FrameIdAt(uint64_t here, const Record* outer) {
  const uint64_t callee = here + sizeof(uint64_t);
  if (outer == nullptr || outer->stack_pointer != here) return callee + sizeof(uint64_t);
  return outer->frame_id - 1 > callee ? outer->frame_id - 1 : 0;
}

// Returns a free record of the thread; otherwise one whose call was abandoned, unless frames that
// seem dead may return. Returns null if neither exists.
template <typename Record, typename Thread>
Record* TakeRecord(Thread* thread, uint32_t count) {
  Record* const records = thread->records;
  uint32_t at = thread->lowest_free;  // a lower bound
  while (at < count && records[at].state != kFree) ++at;
  thread->lowest_free = at < count ? at + 1 : count;
  if (at == count && host.never_reuse == 0) {
    for (at = 0; at < count && records[at].state != kDropped; ++at) {
    }
  }
  return at < count ? &records[at] : nullptr;
}

// Takes one of the thread's `count` records for a call of the thunk's function `target` from inside
// the call of `outer` (may be null). The caller sets its state. Returns null if none is left.
template <typename Record, typename Thread>
Record* BeginRecord(Thread* thread, uint32_t count, const Record* outer, uint32_t thunk,
                    uint64_t target, const uint64_t* return_slot) {
  const auto here = reinterpret_cast<uint64_t>(return_slot);
  const uint64_t frame_id = FrameIdAt(here, outer);
  Record* const record = frame_id != 0 ? TakeRecord<Record>(thread, count) : nullptr;
  if (record == nullptr) return nullptr;
  record->target = target;
  record->return_address = *return_slot;
  record->stack_pointer = here;
  record->frame_id = frame_id;
  record->thunk = thunk;
  record->owner = thread;
  return record;
}

template <typename Record, typename Thread>
void FreeRecord(Thread* thread, Record* record) {
  record->state = kFree;
  const auto index = static_cast<uint32_t>(record - thread->records);
  if (index < thread->lowest_free) thread->lowest_free = index;
}

}  // namespace fieldcost::intercept
