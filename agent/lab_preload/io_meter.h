#pragma once

#include <stdint.h>

#include "agent/lab_preload/lab_thread_state.h"

namespace fieldcost::lab_preload {

// Counts the bytes that calls in a map run read from and write to files and sockets: differences of
// the thread's counters, which intercept's wrappers of I/O functions update. Both functions run
// inside handlers.

// Adds the bytes that the call has transferred to its block. If they cannot be stored (no memory),
// the API is marked as not measured.
void AddIo(ThreadState* thread, const Record& record);

// Marks every API on the thread's stack, and `api` unless it is kNoThunk, as not measured for these
// reasons (shm::NotMeasured).
void NotMeasured(ThreadState* thread, uint32_t api, uint32_t reasons);

}  // namespace fieldcost::lab_preload
