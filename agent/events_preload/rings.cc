#include "agent/events_preload/rings.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "agent/intercept/x86_64/machine.h"

namespace fieldcost::events_preload {
namespace {

using intercept::SystemCall;

constexpr uint64_t kRingBytes = 2 * intercept::kPageBytes;  // its description, and its records
const volatile uint64_t never_moves = 0;

Ring Open(const perf_event_attr& attributes) {
  const Ring none = {nullptr, &never_moves};
  const int64_t fd = SystemCall(SYS_perf_event_open, reinterpret_cast<uint64_t>(&attributes), 0,
                                ~uint64_t{0}, ~uint64_t{0}, PERF_FLAG_FD_CLOEXEC);
  if (fd < 0) return none;
  // Mapped read-only, so the kernel does not wait for a reader.
  void* const mapped =
      mmap(nullptr, kRingBytes, PROT_READ, MAP_SHARED | MAP_POPULATE, static_cast<int>(fd), 0);
  SystemCall(SYS_close, static_cast<uint64_t>(fd));
  if (mapped == MAP_FAILED) return none;
  const auto* const page = static_cast<const perf_event_mmap_page*>(mapped);
  return {mapped, reinterpret_cast<const volatile uint64_t*>(&page->data_head)};
}

perf_event_attr Software(uint64_t config) {
  perf_event_attr attributes;
  memset(&attributes, 0, sizeof attributes);
  attributes.size = sizeof attributes;
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.config = config;
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  return attributes;
}

}  // namespace

Ring OpenPageFaultRing() {
  perf_event_attr attributes = Software(PERF_COUNT_SW_PAGE_FAULTS);
  attributes.sample_period = 1;
  return Open(attributes);
}

// The software event for context switches counts in the kernel, which requires a privilege; switch
// records of one's own threads do not.
Ring OpenContextSwitchRing() {
  perf_event_attr attributes = Software(PERF_COUNT_SW_DUMMY);
  attributes.context_switch = 1;
  return Open(attributes);
}

void CloseRing(Ring* ring) {
  if (ring->mapped != nullptr) munmap(ring->mapped, kRingBytes);
  *ring = {nullptr, &never_moves};
}

}  // namespace fieldcost::events_preload
