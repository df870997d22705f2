#pragma once

#include <stddef.h>

#include "agent/intercept/wrapped_function.h"

namespace fieldcost::preload {

// The functions of libc that move bytes to and from files and sockets, wrapped like the allocation
// functions. A wrapper calls the real function and, while its thread measures a pick that meters
// I/O, adds the bytes really moved to the thread's counters `io`. What a descriptor is, is asked of
// the kernel after the call; pipes, terminals and other devices count nothing. Nothing is held
// across the real call, which may block, be interrupted or be cancelled.

// Indices into ThreadState::io, in the order of the metrics kDiskRead .. kNetSent.
enum IoCounter : uint32_t { kIoDiskRead, kIoDiskWritten, kIoNetReceived, kIoNetSent };

inline constexpr size_t kIoFunctionCount = 33;
extern const intercept::WrappedFunction kIoFunctions[kIoFunctionCount];

}  // namespace fieldcost::preload
