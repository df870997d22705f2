#pragma once

#include <stddef.h>
#include <stdint.h>

#include "agent/intercept/wrapped_function.h"

namespace fieldcost::intercept {

// The functions of libc that move bytes to and from files and sockets, wrapped like the allocation
// functions: what they really moved is told to their user (hooks.h). Nothing is held across the
// real call, which may block, be interrupted or be cancelled.
inline constexpr size_t kIoFunctionCount = 33;
extern const WrappedFunction kIoFunctions[kIoFunctionCount];

// What a descriptor is, by asking the kernel; pipes, terminals and other devices count nothing.
enum class FileKind { kOther, kDisk, kNet };
FileKind KindOfFile(int fd);

// Adds bytes that were moved from one descriptor to another (kNoFile: from or to memory) to
// counters in the order disk read, disk written, net received, net sent.
void CountTransfer(int from, int to, uint64_t bytes, uint64_t* counters);

}  // namespace fieldcost::intercept
