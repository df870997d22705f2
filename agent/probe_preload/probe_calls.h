#pragma once

#include <stdint.h>

#include "agent/intercept/call_records.h"
#include "agent/probe_preload/probe_thread_state.h"

namespace fieldcost::probe_preload {

// Calls in progress of functions that have a point after their return. All but LeaveAll() REQUIRE
// that the thread's hit has begun (ring.h).

inline constexpr uint32_t kRecords = 256;  // per thread

struct Record {
  uint64_t return_address;
  uint64_t saved_register;
  uint64_t target;
  uint64_t stack_pointer;  // address of the stack slot that held the return address
  uint64_t start_ticks;    // not used
  uint64_t frame_id;       // its frame's id for unwinders: the address above its return address
  ThreadState* owner;
  uint32_t state;  // intercept::RecordState
  uint32_t what;   // the thunk's number
  Record* outer;   // the owner's enclosing call, or null
};

// Returns a record for the call whose return address is at `return_slot`; null if none is left.
Record* BeginCall(ThreadState* thread, uint32_t what, const uint64_t* return_slot);
// Frees the record of a call that has returned on the thread that owns it.
void EndCall(ThreadState* thread, Record* record);

// Frees the records of all calls in progress of a thread that has ended.
void LeaveAll(ThreadState* thread);

// The thunk's assumptions about the layout.
static_assert(offsetof(Record, return_address) == FIELDCOST_RECORD_RETURN_ADDRESS);
static_assert(offsetof(Record, saved_register) == FIELDCOST_RECORD_SAVED_REGISTER);
static_assert(offsetof(Record, target) == FIELDCOST_RECORD_TARGET);
static_assert(offsetof(Record, start_ticks) == FIELDCOST_RECORD_START_TICKS);
static_assert(offsetof(Record, frame_id) == FIELDCOST_RECORD_FRAME_ID);

}  // namespace fieldcost::probe_preload
