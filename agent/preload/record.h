#pragma once

// One Record per measurement in progress.

#include <stddef.h>
#include <stdint.h>

#include "agent/intercept/thunk.h"
#include "common/shm/run_file.h"

namespace fieldcost::preload {

struct ThreadState;

// A measurement in progress. It stays `in_use` until the measured call returns, or until it is
// certain that it never will (longjmp, exception); a record that might still be returned through is
// never reused.
struct Record {
  uint64_t return_address;
  uint64_t saved_rbx;
  uint64_t target;
  uint64_t stack_pointer;  // address of the stack slot that held the return address
  uint64_t start_ticks;
  uint32_t in_use;
  // What a stub says (a pick, perhaps with kSampledFlag) when all below is set for it, its next
  // call's weight too, and nothing but time is metered: then the thunk takes the thread's first
  // record itself. kNoPick otherwise.
  uint32_t usual;
  uint32_t what;        // the pick, perhaps with kSampledFlag
  uint32_t superseded;  // the thread went on without it: counted as abandoned, unless it returns
  ThreadState* owner;   // whose record it is, always
  shm::Cell* cells;     // the owner's, of this pick
  uint64_t allocated_inclusive;  // the thread's counters at entry
  uint64_t allocated_exclusive;
  uint64_t io[4];
  uint32_t is_first;     // the process's first call of this pick
  uint32_t weight_log2;  // it stands for 2^this calls
  // Time inside it that is not the function's. Not added to start_ticks, where the thunk keeps the
  // caller's rdx for a moment. Not 0 only where `usual` is kNoPick.
  uint64_t excluded_ticks;
};

inline uint32_t PickOf(const Record& record) { return record.what & ~intercept::kSampledFlag; }
inline bool IsSampled(const Record& record) { return (record.what & intercept::kSampledFlag) != 0; }

// While a thread writes to its cells, `active` is this mark of the record concerned: whoever calls
// from a signal handler then is not measured, since cells have one writer.
inline Record* Busy(Record* record) {
  return reinterpret_cast<Record*>(reinterpret_cast<uint64_t>(record) | 1);
}
inline bool IsBusy(const Record* active) { return (reinterpret_cast<uint64_t>(active) & 1) != 0; }
inline Record* RecordOf(Record* active) {
  return reinterpret_cast<Record*>(reinterpret_cast<uint64_t>(active) & ~uint64_t{1});
}

// What the thunk knows of it.
static_assert(offsetof(Record, return_address) == FIELDCOST_RECORD_RETURN_ADDRESS);
static_assert(offsetof(Record, saved_rbx) == FIELDCOST_RECORD_SAVED_RBX);
static_assert(offsetof(Record, target) == FIELDCOST_RECORD_TARGET);
static_assert(offsetof(Record, stack_pointer) == FIELDCOST_RECORD_STACK_POINTER);
static_assert(offsetof(Record, start_ticks) == FIELDCOST_RECORD_START_TICKS);
static_assert(offsetof(Record, in_use) == FIELDCOST_RECORD_IN_USE);
static_assert(offsetof(Record, usual) == FIELDCOST_RECORD_USUAL);

}  // namespace fieldcost::preload
