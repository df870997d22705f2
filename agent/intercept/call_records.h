#pragma once

// A thread's records of calls in progress, for libraries that keep all that are on its stack. Run
// inside handlers: no libc call, no vector register, no lock.

#include <stdint.h>

namespace fieldcost::intercept {

enum RecordState : uint32_t {
  kFree = 0,
  kActive = 1,
  kDropped = 2,   // left by longjmp or an exception: surely gone, but used again last of all
  kReturned = 3,  // on another thread, or to nobody; its owner has not looked yet
};

// What unwinders tell a frame from others by: right above its place, where the return address is.
// Calls that tail-call each other share a place: each is told from who called it, `outer`, or null.
// 0: they are too many.
template <typename Record>
uint64_t FrameIdAt(uint64_t here, const Record* outer) {
  const uint64_t callee = here + sizeof(uint64_t);
  if (outer == nullptr || outer->stack_pointer != here) return callee + sizeof(uint64_t);
  return outer->frame_id - 1 > callee ? outer->frame_id - 1 : 0;
}

// A free one; `lowest_free` is where the first of them may be. Else one whose call was left for
// good, unless frames that seem gone may return. Null if there is none.
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
