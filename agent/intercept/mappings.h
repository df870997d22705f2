#pragma once

#include <stdint.h>

namespace fieldcost::intercept {

// A mapping of this process.
struct Mapping {
  uint64_t begin;
  uint64_t end;
  bool none;  // no access: a guard
};

// How greenlet's file is named, which copies stacks away and back: frames that seem gone return.
inline constexpr char kStackCopier[] = "_greenlet";

// Finds the mapping that holds `address` and the one below it, in /proc/self/maps, which is read
// through `scratch`. False if it cannot be told, or if greenlet is loaded.
bool FindMapping(uint64_t address, char* scratch, uint32_t scratch_bytes, Mapping* below,
                 Mapping* found);

// A thread's own stack, or what is surely a part of it.
struct StackRange {
  uint64_t begin;
  uint64_t end;
  bool Holds(uint64_t address) const { return address >= begin && address < end; }
};

// The part that is known without asking anybody. `first_top` is the highest address in use for the
// first thread, below which the kernel maps nothing else for a while, and 0 for others, whose least
// stack glibc puts below the control block.
StackRange LeastStack(uint64_t first_top);

// The same, for other threads with all that the kernel says; `scratch` serves as above.
StackRange OwnStack(uint64_t first_top, char* scratch, uint32_t scratch_bytes);

}  // namespace fieldcost::intercept
