#pragma once

#include <stdint.h>

#include "agent/intercept/call_records.h"
#include "agent/probe_preload/probe_thread_state.h"

namespace fieldcost::probe_preload {

// Calls in progress of functions that have a point after their return. All but LeaveAll() REQUIRE
// that the thread's hit has begun (ring.h).

inline constexpr uint32_t kRecords = 256;  // per thread

struct Record : intercept::CallRecord<ThreadState> {
  Record* outer;  // the owner's enclosing call, or null
};

// Returns a record for the call whose return address is at `return_slot`; null if none is left.
Record* BeginCall(ThreadState* thread, uint32_t what, const uint64_t* return_slot);
// Frees the record of a call that has returned on the thread that owns it.
void EndCall(ThreadState* thread, Record* record);

// Frees the records of all calls in progress of a thread that has ended.
void LeaveAll(ThreadState* thread);

}  // namespace fieldcost::probe_preload
