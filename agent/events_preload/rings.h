#pragma once

#include <stdint.h>

namespace fieldcost::events_preload {

// The kernel's counts for a thread: a perf ring of one page that is never read; the kernel's write
// position gives the number of events. No descriptor stays open.
struct Ring {
  void* mapped;                   // null: not measured
  const volatile uint64_t* head;  // bytes written; if not measured, a constant
};

// Open a ring for the calling thread: not measured if the kernel refuses.
Ring OpenPageFaultRing();  // in user mode
Ring OpenContextSwitchRing();
void CloseRing(Ring* ring);

inline constexpr uint64_t kBytesOfPageFault = 8;
inline constexpr uint64_t kBytesOfContextSwitch = 16;  // two records: out and in

}  // namespace fieldcost::events_preload
