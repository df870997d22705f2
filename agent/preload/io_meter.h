#pragma once

#include <stdint.h>

namespace fieldcost::preload {

// While a thread measures a pick that meters I/O, what intercept's wrappers of I/O functions move
// is added to the thread's counters `io`.

// Indices into ThreadState::io, in the order of the metrics kDiskRead .. kNetSent.
enum IoCounter : uint32_t { kIoDiskRead, kIoDiskWritten, kIoNetReceived, kIoNetSent };

}  // namespace fieldcost::preload
