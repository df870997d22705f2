#pragma once

#include <stdint.h>

#include "agent/intercept/thunk.h"
#include "agent/intercept/wrapped_function.h"
#include "common/shm/metric.h"

namespace fieldcost::intercept {

// Functions of libc that move bytes of files or sockets by system calls of their own, which go
// through no slot: streams (fread, printf), the resolver, syslog. What they move cannot be counted.
// Their slots lead to stubs that note this for the thread and jump on.
inline constexpr uint32_t kHiddenIoCount = FIELDCOST_HIDDEN_DISK_COUNT + FIELDCOST_HIDDEN_NET_COUNT;
static_assert(FIELDCOST_HIDDEN_DISK_BIT == shm::kDiskInsideLibc);
static_assert(FIELDCOST_HIDDEN_NET_BIT == shm::kNetInsideLibc);

// Name, stub and place of the real address of each, ready for InstallWrappers. REQUIRES: the
// constructor.
const WrappedFunction* HiddenIo();

// shm::NotMeasured bits of what this thread has called since the owner set it to 0. The stubs set
// them; nothing else does, except its owner for other reasons.
extern "C" __attribute__((visibility("hidden"))) __thread uint32_t fieldcost_hidden_io;

// What cannot be counted of a function of that library, whatever it is called with: libc's own
// functions, except those that are wrapped (io_wrappers.h), move bytes without a slot.
uint32_t NotMeasuredOf(const char* module, const char* symbol);

}  // namespace fieldcost::intercept
