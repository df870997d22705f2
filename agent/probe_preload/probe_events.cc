#include "agent/probe_preload/probe_events.h"

#include "agent/probe_preload/probe_plan_reader.h"
#include "agent/probe_preload/sites.h"

namespace fieldcost::probe_preload {
namespace {

// Marks of events that ended on another thread than they began on; a place is reused after that
// many.
constexpr uint32_t kEnded = 4096;
uint64_t ended[kEnded];
uint64_t last_called[shm::kMaxProbePoints + 1];  // Mark() of the last event of that name; 0: none

bool IsSame(const shm::ProbeEventId& one, const shm::ProbeEventId& other) {
  return one.run == other.run && one.number == other.number;
}

// Unique: differs from those of the parent after fork().
uint64_t Mark(const shm::ProbeEventId& event) { return event.run ^ event.number; }

bool HasEnded(const shm::ProbeEventId& event) {
  return event.run != process.run ||
         __atomic_load_n(&ended[event.number % kEnded], __ATOMIC_RELAXED) == Mark(event);
}

void ForgetEnded(ThreadState* thread) {
  while (thread->open_count != 0 && HasEnded(thread->open[thread->open_count - 1].id)) {
    --thread->open_count;
  }
}

void Remove(ThreadState* thread, uint32_t index) {
  for (uint32_t i = index + 1; i < thread->open_count; ++i) thread->open[i - 1] = thread->open[i];
  --thread->open_count;
}

}  // namespace

shm::ProbeEventId InnermostEvent(ThreadState* thread) {
  if (thread->open_count == 0) return process.own;
  ForgetEnded(thread);
  return thread->open_count == 0 ? process.own : thread->open[thread->open_count - 1].id;
}

bool FindEvent(ThreadState* thread, uint32_t plan_event, shm::ProbeEventId* event) {
  for (uint32_t i = thread->open_count; i-- > 0;) {
    const OpenEvent& open = thread->open[i];
    if (PlanEventOf(open.site) != plan_event || HasEnded(open.id)) continue;
    *event = open.id;
    return true;
  }
  const uint64_t mark = __atomic_load_n(&last_called[plan_event], __ATOMIC_RELAXED);
  *event = {process.run, mark ^ process.run};
  return mark != 0;
}

shm::ProbeEventId NewEvent(ThreadState* thread, uint32_t site) {
  if (thread->next_number == thread->end_number) {
    thread->next_number =
        __atomic_fetch_add(&process.header->next_number, kNumbersAtOnce, __ATOMIC_RELAXED);
    thread->end_number = thread->next_number + kNumbersAtOnce;
  }
  const shm::ProbeEventId event = {process.run, thread->next_number++};
  ForgetEnded(thread);
  // The oldest event, which was probably abandoned, makes room.
  if (thread->open_count == kOpenEvents) Remove(thread, 0);
  thread->open[thread->open_count++] = {event, site, 0};
  if (const uint32_t plan_event = PlanEventOf(site); plan_event != 0) {
    __atomic_store_n(&last_called[plan_event], Mark(event), __ATOMIC_RELAXED);
  }
  return event;
}

void ForgetEventsOfParent() {
  for (uint64_t& mark : last_called) mark = 0;
}

void ForgetEvent(ThreadState* thread, const shm::ProbeEventId& event) {
  for (uint32_t i = 1; i <= Plan().point_count; ++i) {
    uint64_t expected = Mark(event);
    __atomic_compare_exchange_n(&last_called[i], &expected, 0, false, __ATOMIC_RELAXED,
                                __ATOMIC_RELAXED);
  }
  for (uint32_t i = thread->open_count; i-- > 0;) {
    if (IsSame(thread->open[i].id, event)) return Remove(thread, i);
  }
  if (event.run == process.run) {
    __atomic_store_n(&ended[event.number % kEnded], Mark(event), __ATOMIC_RELAXED);
  }
}

}  // namespace fieldcost::probe_preload
