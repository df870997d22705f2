#pragma once

// Slots for threads, which outlive their thread and are taken over by a later one. The id of a
// slot's thread is in `owner_tid`: 0 = never used; that of a dead thread = free. Runs inside
// handlers: no libc call, no vector register, no lock.

#include <errno.h>
#include <stdint.h>
#include <sys/syscall.h>

#include "agent/intercept/host.h"
#include "agent/intercept/x86_64/machine.h"

namespace fieldcost::intercept {

// Calls by a thread without a slot before it tries again: an attempt takes a system call per slot.
inline constexpr uint32_t kFirstBackoff = 64;
inline constexpr uint32_t kLastBackoff = 1U << 20;

// When a thread that found no slot tries again; zeroed: at once. A thread-local variable.
struct SlotBackoff {
  uint32_t calls_left;
  uint32_t calls;  // to skip if the next attempt fails as well
};

// Returns a slot for this thread; null if it is not yet time to try, or if no free slot could be
// prepared. prepare(slot, number, thread id) is called after the slot was assigned to the new
// owner, and returns false on failure.
template <typename Slot>
Slot* TakeThreadSlot(Slot* slots, uint32_t count, SlotBackoff* backoff,
                     bool (*prepare)(Slot* slot, uint32_t number, uint32_t tid)) {
  if (backoff->calls_left != 0) {
    --backoff->calls_left;
    return nullptr;
  }
  // A child of vfork() runs here with our memory and its parent's control block. A slot taken in
  // its name would become free for others when the child ends, while the parent kept using it.
  if (SystemCall(SYS_getpid) != host.pid) return nullptr;
  const auto tid = static_cast<uint32_t>(SystemCall(SYS_gettid));
  for (uint32_t number = 0; number < count; ++number) {
    Slot* const slot = &slots[number];
    uint32_t owner = __atomic_load_n(&slot->owner_tid, __ATOMIC_RELAXED);
    // Our own id on a slot that is not ours: a dead thread had the same id.
    const bool is_free =
        owner == 0 || owner == tid || SystemCall(SYS_tgkill, host.pid, owner, 0) == -ESRCH;
    if (!is_free || !__atomic_compare_exchange_n(&slot->owner_tid, &owner, tid, false,
                                                 __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
      continue;
    }
    if (prepare(slot, number, tid)) return slot;
    __atomic_store_n(&slot->owner_tid, 0, __ATOMIC_RELEASE);
  }
  if (backoff->calls == 0) backoff->calls = kFirstBackoff;
  backoff->calls_left = backoff->calls;
  if (backoff->calls < kLastBackoff) backoff->calls *= 2;
  return nullptr;
}

}  // namespace fieldcost::intercept
