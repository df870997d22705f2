#pragma once

// A thread's records of calls in progress, for libraries that record all calls on its stack. Runs
// inside handlers: no libc call, no vector register, no lock.

#include <stdint.h>

namespace fieldcost::intercept {

enum RecordState : uint32_t {
  kFree = 0,
  kActive = 1,
  kDropped = 2,   // left by longjmp or an exception: certainly dead, but reused last
  kReturned = 3,  // on another thread, or without an owner; not yet seen by its owner
};

// Returns the address that identifies a frame to unwinders: the one just above its return address.
// Calls that tail-call each other share that address; each is distinguished from its caller's
// record `outer` (may be null). Returns 0 if there are too many of them.
template <typename Record>
uint64_t FrameIdAt(uint64_t here, const Record* outer) {
  const uint64_t callee = here + sizeof(uint64_t);
  if (outer == nullptr || outer->stack_pointer != here) return callee + sizeof(uint64_t);
  return outer->frame_id - 1 > callee ? outer->frame_id - 1 : 0;
}

// Returns a free record (`lowest_free` is a lower bound for the first one); otherwise one whose
// call was abandoned, unless frames that seem dead may return. Returns null if neither exists.
template <typename Record>
Record* TakeRecord(Record* records, uint32_t count, uint32_t* lowest_free, bool never_reuse) {
  uint32_t at = *lowest_free;
  while (at < count && records[at].state != kFree) ++at;
  *lowest_free = at < count ? at + 1 : count;
  if (at == count && !never_reuse) {
    for (at = 0; at < count && records[at].state != kDropped; ++at) {
    }
  }
  return at < count ? &records[at] : nullptr;
}

template <typename Record>
void FreeRecord(Record* records, Record* record, uint32_t* lowest_free) {
  record->state = kFree;
  const auto index = static_cast<uint32_t>(record - records);
  if (index < *lowest_free) *lowest_free = index;
}

}  // namespace fieldcost::intercept
