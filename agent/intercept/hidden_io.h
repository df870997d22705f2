#pragma once

#include <stdint.h>

#include "agent/intercept/slots.h"
#include "agent/intercept/thunk.h"
#include "common/shm/metric.h"

namespace fieldcost::intercept {

// Functions of libc that move bytes of files or sockets by system calls of their own, which go
// through no slot: streams (fread, printf), files that libc reads for itself (user database,
// locale, time zone), the resolver, syslog. These bytes cannot be counted. The functions' slots
// lead to stubs that record this for the thread and jump on. The list serves all preload libraries.
inline constexpr uint32_t kHiddenIoCount =
    FIELDCOST_HIDDEN_DISK_COUNT + FIELDCOST_HIDDEN_NET_COUNT + FIELDCOST_HIDDEN_BOTH_COUNT;
static_assert(FIELDCOST_HIDDEN_DISK_BIT == shm::kDiskInsideLibc);
static_assert(FIELDCOST_HIDDEN_NET_BIT == shm::kNetInsideLibc);
static_assert(FIELDCOST_HIDDEN_BOTH_BITS == (shm::kDiskInsideLibc | shm::kNetInsideLibc));

// Points the slots of these functions at their stubs, as InstallWrappers() does (wrappers.h).
// REQUIRES: the constructor; called once.
void InstallHiddenIo(const SlotSpace& space);

// shm::NotMeasured bits of the functions that this thread has called since the owner set it to 0.
// Set only by the stubs, and by the owner for other reasons.
extern "C" __attribute__((visibility("hidden"))) __thread uint32_t fieldcost_hidden_io;

// Returns the reasons (shm::NotMeasured) why bytes cannot be counted during a call of the function;
// 0 if it is not in the list, or does not belong to libc or its resolver.
uint32_t HiddenReasonsOf(const char* module, const char* symbol);

// Returns the same for syscall() with this first argument: bytes moved by the system call itself,
// or by requests that it submits. The stub of syscall() sets the thread's word itself.
uint32_t HiddenBySystemCall(uint64_t number);

// Returns the reasons why bytes cannot be counted for a function of that library, regardless of its
// arguments: libc's own functions, except wrapped ones (io_wrappers.h), move bytes without a slot.
uint32_t NotMeasuredOf(const char* module, const char* symbol);

}  // namespace fieldcost::intercept
