// The functions of fieldcost/probe.h. Those that record a point are called through x86_64/entry.S,
// which adds the registers (null: no stacks) and a stack address.
#include <stdint.h>

#include "agent/intercept/x86_64/machine.h"
#include "agent/probe_preload/include/fieldcost/probe.h"
#include "agent/probe_preload/probe_events.h"
#include "agent/probe_preload/probe_run.h"
#include "agent/probe_preload/ring.h"
#include "agent/probe_preload/sites.h"
#include "agent/probe_preload/traceparent.h"

namespace fieldcost::probe_preload {
namespace {

constexpr uint32_t kNoPlace = ~uint32_t{0};  // in a site: there was no room for a number
fieldcost_probe_site made_sites[shm::kProbeSites];
uint32_t made_count;

shm::ProbeEventId IdOf(const fieldcost_event& event) {
  return event.run == 0 && event.number == 0 ? process.own
                                             : shm::ProbeEventId{event.run, event.number};
}

// Turns the site off if there can be no reader any more: it then costs no call.
void TurnOff(fieldcost_probe_site* site) {
  if (process.inert != 0 || __atomic_load_n(&intercept::host.detached, __ATOMIC_RELAXED) != 0) {
    __atomic_store_n(&site->state, uint8_t{0}, __ATOMIC_RELAXED);
  }
}

__attribute__((cold, noinline)) uint32_t FirstPass(fieldcost_probe_site* site) {
  const uint32_t made =
      AddSite({site->label, site->file, site->function, nullptr, site->line, shm::kProbeSource, 0});
  uint32_t number = 0;
  const uint32_t mine = made == kNoSite ? kNoPlace : made + 1;
  return __atomic_compare_exchange_n(&site->number, &number, mine, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE)
             ? mine
             : number;
}

inline uint32_t NumberOf(fieldcost_probe_site* site) {
  uint32_t number = __atomic_load_n(&site->number, __ATOMIC_ACQUIRE);
  if (__builtin_expect(number == 0, 0)) number = FirstPass(site);
  return number == kNoPlace ? kNoSite : number - 1;
}

inline void PutAt(ThreadState* thread, fieldcost_probe_site* site, Hit* hit) {
  hit->site = NumberOf(site);
  if (__builtin_expect(hit->site == kNoSite, 0)) return LoseWithoutRing(hit->event);
  Put(thread, *hit);
}

// Returns an event whose beginning is lost: other threads may still pass points in it.
__attribute__((cold)) void BeginLost(fieldcost_event* event) {
  if (Attached() == 0) return;
  *event = {process.run, __atomic_fetch_add(&process.header->next_number, 1, __ATOMIC_RELAXED)};
  TellIncomplete({event->run, event->number});
}

}  // namespace

#define FIELDCOST_HIDDEN extern "C" __attribute__((visibility("hidden")))
#define FIELDCOST_PUBLIC extern "C" __attribute__((visibility("default")))

FIELDCOST_HIDDEN void fieldcost_probe_take(fieldcost_probe_site* site, uint64_t flags,
                                           uint64_t value, uint64_t here,
                                           const shm::ProbeRegisters* registers) {
  ThreadState* const thread = BeginHit(Asks::kYes, here, process.own);
  if (__builtin_expect(thread == nullptr, 0)) return TurnOff(site);
  Hit hit = {shm::kProbePoint, static_cast<uint16_t>(flags), 0, Now(), {}, value, 0, registers};
  hit.event = InnermostEvent(thread);
  PutAt(thread, site, &hit);
  EndHit(thread);
}

FIELDCOST_HIDDEN void fieldcost_probe_take_in(fieldcost_probe_site* site,
                                              const fieldcost_event* event, uint64_t flags,
                                              uint64_t value, uint64_t here,
                                              const shm::ProbeRegisters* registers) {
  const shm::ProbeEventId id = IdOf(*event);
  ThreadState* const thread = BeginHit(Asks::kYes, here, id);
  if (__builtin_expect(thread == nullptr, 0)) return TurnOff(site);
  Hit hit = {shm::kProbePoint, static_cast<uint16_t>(flags), 0, Now(), id, value, 0, registers};
  // A child of fork() may have learnt only now which event is its own.
  if (event->run == 0 && event->number == 0) hit.event = process.own;
  PutAt(thread, site, &hit);
  EndHit(thread);
}

FIELDCOST_HIDDEN void fieldcost_probe_take_begin(fieldcost_probe_site* site, fieldcost_event* event,
                                                 uint64_t here,
                                                 const shm::ProbeRegisters* registers) {
  *event = {0, 0};
  ThreadState* const thread = BeginHit(Asks::kYes, here, kNoEvent);
  if (__builtin_expect(thread == nullptr, 0)) {
    BeginLost(event);
    return TurnOff(site);
  }
  Hit hit = {shm::kProbeBegin, 0, 0, Now(), {}, 0, 0, registers};
  const uint32_t number = NumberOf(site);
  if (__builtin_expect(number == kNoSite, 0)) {
    LoseWithoutRing(kNoEvent);
    BeginLost(event);
  } else {
    hit.event = NewEvent(thread, number);
    hit.site = number;
    Put(thread, hit);
    *event = {hit.event.run, hit.event.number};
  }
  EndHit(thread);
}

FIELDCOST_HIDDEN void fieldcost_probe_take_end(fieldcost_probe_site* site, fieldcost_event* event,
                                               uint64_t here,
                                               const shm::ProbeRegisters* registers) {
  const shm::ProbeEventId id = {event->run, event->number};
  if (id.run == 0 && id.number == 0) return;
  *event = {0, 0};
  ThreadState* const thread = BeginHit(Asks::kYes, here, id);
  if (__builtin_expect(thread == nullptr, 0)) return TurnOff(site);
  Hit hit = {shm::kProbeEnd, 0, 0, Now(), id, 0, 0, registers};
  PutAt(thread, site, &hit);
  ForgetEvent(thread, id);
  EndHit(thread);
}

FIELDCOST_PUBLIC void fieldcost_probe_current(fieldcost_event* event) {
  ThreadState* const thread = CurrentThread(Asks::kYes);
  *event = {0, 0};
  if (Attached() == 0) return;
  const shm::ProbeEventId id = thread != nullptr ? InnermostEvent(thread) : process.own;
  *event = {id.run, id.number};
}

FIELDCOST_PUBLIC int fieldcost_probe_traceparent(fieldcost_event event, char text[56]) {
  static_assert(kTraceparentBytes + 1 == 56);
  text[0] = '\0';
  if (event.run == 0 && event.number == 0) fieldcost_probe_current(&event);
  if (Attached() == 0) return 0;
  WriteTraceparent({event.run, event.number}, process.run,
                   *reinterpret_cast<char(*)[kTraceparentBytes + 1]>(text));
  return 1;
}

FIELDCOST_PUBLIC int fieldcost_probe_join(const char* traceparent, fieldcost_event* event) {
  *event = {0, 0};
  Hit hit = {};
  hit.kind = shm::kProbeJoin;
  if (traceparent == nullptr || !ReadTraceparent(traceparent, &hit.event, &hit.parent)) return 0;
  ThreadState* const thread = BeginHit(Asks::kYes, intercept::StackPointer(), hit.event);
  if (Attached() == 0) return 0;
  *event = {hit.event.run, hit.event.number};
  if (thread == nullptr) return 1;
  hit.ticks = Now();
  hit.site = JoinSite();
  if (hit.site != kNoSite) Put(thread, hit);
  EndHit(thread);
  return 1;
}

FIELDCOST_PUBLIC fieldcost_probe_site* fieldcost_probe_make_site(const char* label,
                                                                 const char* file, uint32_t line,
                                                                 const char* function) {
  if (label == nullptr || *label == '\0') return nullptr;
  CurrentThread(Asks::kYes);  // a child of fork() opens its run
  if (Attached() == 0) return nullptr;
  const uint32_t index = __atomic_fetch_add(&made_count, 1, __ATOMIC_RELAXED);
  if (index >= shm::kProbeSites) {
    __atomic_store_n(&made_count, shm::kProbeSites, __ATOMIC_RELAXED);
    return nullptr;
  }
  const uint32_t number = AddSite({label, file, function, nullptr, line, shm::kProbeSource, 0});
  if (number == kNoSite) return nullptr;
  fieldcost_probe_site* const site = &made_sites[index];
  site->state = 1;
  site->number = number + 1;
  return site;
}

}  // namespace fieldcost::probe_preload
