#pragma once

// One Record per measurement in progress.

#include <stddef.h>
#include <stdint.h>

#include "agent/intercept/thunk.h"
#include "common/shm/run_file.h"

namespace fieldcost::preload {

struct ThreadState;

// A measurement in progress. It stays `in_use` until the measured call returns, or until it is
// certain that it never will (longjmp, exception). A record is never reused while a call might
// still return through it.
struct Record {
  uint64_t return_address;
  uint64_t saved_register;
  uint64_t target;
  uint64_t stack_pointer;  // address of the stack slot that held the return address
  uint64_t start_ticks;
  uint32_t in_use;
  // The stub's argument (a pick, perhaps with kSampledFlag) for which all fields below are set,
  // including the next call's weight, and only time is metered: the thunk then takes the thread's
  // first record itself. kNoPick otherwise.
  uint32_t usual;
  uint32_t what;                 // the pick, perhaps with kSampledFlag
  uint32_t superseded;           // abandoned by the thread; counted as such unless it returns
  ThreadState* owner;            // never changes
  shm::Cell* cells;              // the owner's, of this pick
  uint64_t allocated_inclusive;  // the thread's counters at entry
  uint64_t allocated_exclusive;
  uint64_t io[4];
  uint32_t is_first;     // the process's first call of this pick
  uint32_t weight_log2;  // it represents 2^this calls
  // Time inside the call that is not the function's. Not added to start_ticks, where the thunk
  // briefly keeps the caller's rdx. Always 0 unless `usual` is kNoPick.
  uint64_t excluded_ticks;
};

inline uint32_t PickOf(const Record& record) { return record.what & ~intercept::kSampledFlag; }
inline bool IsSampled(const Record& record) { return (record.what & intercept::kSampledFlag) != 0; }

// While a thread writes to its cells, `active` is this marked pointer to the record concerned:
// calls from a signal handler are then not measured, since cells have one writer.
inline Record* Busy(Record* record) {
  return reinterpret_cast<Record*>(reinterpret_cast<uint64_t>(record) | 1);
}
inline bool IsBusy(const Record* active) { return (reinterpret_cast<uint64_t>(active) & 1) != 0; }
inline Record* RecordOf(Record* active) {
  return reinterpret_cast<Record*>(reinterpret_cast<uint64_t>(active) & ~uint64_t{1});
}

// The thunk's assumptions about the layout.
static_assert(offsetof(Record, return_address) == FIELDCOST_RECORD_RETURN_ADDRESS);
static_assert(offsetof(Record, saved_register) == FIELDCOST_RECORD_SAVED_REGISTER);
static_assert(offsetof(Record, target) == FIELDCOST_RECORD_TARGET);
static_assert(offsetof(Record, stack_pointer) == FIELDCOST_RECORD_STACK_POINTER);
static_assert(offsetof(Record, start_ticks) == FIELDCOST_RECORD_START_TICKS);
static_assert(offsetof(Record, in_use) == FIELDCOST_RECORD_IN_USE);
static_assert(offsetof(Record, usual) == FIELDCOST_RECORD_USUAL);

}  // namespace fieldcost::preload
