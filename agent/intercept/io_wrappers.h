#pragma once

#include <stddef.h>
#include <stdint.h>

#include "agent/intercept/wrapped_function.h"

namespace fieldcost::intercept {

// Wrappers for libc's functions that move bytes to and from files and sockets, like those of the
// allocation functions: the bytes actually moved are reported to the user (hooks.h). No state is
// held across the real call, which may block, be interrupted or be cancelled.
inline constexpr size_t kIoFunctionCount = 33;
extern const WrappedFunction kIoFunctions[kIoFunctionCount];

// Queries the kernel for a descriptor's kind; pipes, terminals and other devices are not counted.
enum class FileKind { kOther, kDisk, kNet };
FileKind KindOfFile(int fd);

// Adds bytes that were moved from one descriptor to another (kNoFile: from or to memory) to
// counters in the order disk read, disk written, net received, net sent.
void CountTransfer(int from, int to, uint64_t bytes, uint64_t* counters);

}  // namespace fieldcost::intercept
