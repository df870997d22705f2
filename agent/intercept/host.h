#pragma once

// The process that the library is loaded into.

#include <stdint.h>

#include "agent/intercept/x86_64/machine.h"

namespace fieldcost::intercept {

// Written by the constructor before any slot is patched; constant afterwards, except where noted.
struct Host {
  uint64_t stack_top;    // highest address in use of the first thread's stack
  uint32_t pid;          // a child of fork() that has its own file changes it
  uint32_t never_reuse;  // frames that seem dead may return: greenlet is loaded; changes once
  uint32_t detached;     // 1: permanently; changes once
};
extern Host host;

// The first element is not 0 while this process is measured; each library defines its values. A
// child of fork() finds the page zeroed (MADV_WIPEONFORK) and is thereby detached.
extern "C" __attribute__((visibility("hidden")))
uint32_t fieldcost_attached[kPageBytes / sizeof(uint32_t)];

inline bool IsAttached() {
  return __builtin_expect(__atomic_load_n(fieldcost_attached, __ATOMIC_RELAXED) != 0, 1);
}

// Sets the host's id and stack, and has children of fork() detached. Returns false if the kernel
// cannot do that.
bool KnowHost();

// Sets `never_reuse` if one of the objects from `first_object` on copies stacks away and back, so
// that frames that seem dead may return. REQUIRES: ListObjectsAtStart.
void LookForStackCopier(uint32_t first_object);

}  // namespace fieldcost::intercept
