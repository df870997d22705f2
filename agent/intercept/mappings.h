#pragma once

#include <stdint.h>

namespace fieldcost::intercept {

// A mapping of this process.
struct Mapping {
  uint64_t begin;
  uint64_t end;
  bool none;  // no access: a guard
};

// Part of the file name of greenlet, which copies stacks away and back: frames that seem dead may
// return.
inline constexpr char kStackCopier[] = "_greenlet";

// Finds the mapping that holds `address` and the one below it in /proc/self/maps, using `scratch`
// as the buffer. Returns false on failure, or if greenlet is loaded.
bool FindMapping(uint64_t address, char* scratch, uint32_t scratch_bytes, Mapping* below,
                 Mapping* found);

// A thread's own stack, or a part that certainly belongs to it.
struct StackRange {
  uint64_t begin;
  uint64_t end;
  bool Holds(uint64_t address) const { return address >= begin && address < end; }
  // Returns whether what the thread did in the frame at `busy_at` was certainly left, as seen from
  // the frame at `here`: a signal handler jumped out of it.
  bool WasLeft(uint64_t busy_at, uint64_t here) const {
    return Holds(here) && Holds(busy_at) && here >= busy_at;
  }
};

// Returns the part that is known without a system call. `first_top` is the highest address in use
// for the first thread, for whose stack the kernel keeps some space free below; 0 for other
// threads, for which glibc guarantees a minimum stack below the control block.
StackRange LeastStack(uint64_t first_top);

// The same, but complete for other threads, read from the kernel; `scratch` as above.
StackRange OwnStack(uint64_t first_top, char* scratch, uint32_t scratch_bytes);

}  // namespace fieldcost::intercept
