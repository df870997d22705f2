#pragma once

#include <stdint.h>

namespace fieldcost::intercept {

// A mapping of this process.
struct Mapping {
  uint64_t begin;
  uint64_t end;
  bool none;  // no access: a guard
};

// Finds the mapping that holds `address` and the one below it, in /proc/self/maps, which is read
// through `scratch`. False if it cannot be told, or if greenlet is loaded: it copies stacks away
// and back, so that frames that seem gone return.
bool FindMapping(uint64_t address, char* scratch, uint32_t scratch_bytes, Mapping* below,
                 Mapping* found);

// What is surely this thread's own stack. Of the first thread `first_top` is the highest address in
// use; of others it is 0, and `scratch` serves as above.
struct StackRange {
  uint64_t begin;
  uint64_t end;
  bool Holds(uint64_t address) const { return address >= begin && address < end; }
};
StackRange OwnStack(uint64_t first_top, char* scratch, uint32_t scratch_bytes);

}  // namespace fieldcost::intercept
