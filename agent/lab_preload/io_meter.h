#pragma once

#include <stdint.h>

#include "agent/lab_preload/thread_state.h"

namespace fieldcost::lab_preload {

// Counts the bytes that calls of a map move from and to files and sockets: the differences of the
// thread's counters, which intercept's wrappers of I/O functions feed. Both run inside handlers.

// Adds what the call has moved to its block. A call whose bytes cannot be stored (no memory) hides
// its API's.
void AddIo(ThreadState* thread, const Record& record);

// Marks every API on the thread's stack, and `api` unless it is kNoThunk, as not measured for these
// reasons (shm::NotMeasured).
void NotMeasured(ThreadState* thread, uint32_t api, uint32_t reasons);

}  // namespace fieldcost::lab_preload
