// The beginning and end of a call of a function with points; x86_64/entry.S adds the registers to
// the thunk's arguments.
#include <stdint.h>

#include "agent/intercept/notice.h"
#include "agent/probe_preload/automatic.h"
#include "agent/probe_preload/probe_calls.h"
#include "agent/probe_preload/probe_events.h"
#include "agent/probe_preload/probe_plan_reader.h"
#include "agent/probe_preload/ring.h"
#include "agent/probe_preload/sites.h"

namespace fieldcost::probe_preload {

using intercept::Entry;

namespace {

// One end of a call.
struct End {
  uint32_t flag;  // kProbeEntered or kProbeReturned
  uint64_t ticks;
  const uint64_t* arguments;  // on entry: the return slot
  uint64_t result;            // after the return
  const shm::ProbeRegisters* registers;
};

uint32_t Kept(uint16_t* kept, const SiteText& text) {
  const uint16_t known = __atomic_load_n(kept, __ATOMIC_RELAXED);
  if (known != 0) return known - 1U;
  const uint32_t made = AddSite(text);
  if (made != kNoSite) __atomic_store_n(kept, static_cast<uint16_t>(made + 1), __ATOMIC_RELAXED);
  return made;
}

SiteText TextOf(const Target& target, const char* label) {
  return {label, nullptr, target.module, target.symbol, 0, shm::kProbeNamed, 0};
}

bool HasValue(const shm::ProbePlanPoint& point, bool is_entry) {
  return is_entry ? point.value >= 1 && point.value <= 6 : point.value == 7;
}

void PutAt(ThreadState* thread, Hit hit, uint32_t site) {
  if (site == kNoSite) return LoseWithoutRing(hit.event);
  hit.site = site;
  Put(thread, hit);
}

// Returns whether the point has a label that differs from its event's.
bool HasOwnLabel(const shm::ProbePlanPoint& point) {
  if (*point.label == '\0') return false;
  for (uint32_t i = 0; point.label[i] == point.event[i]; ++i) {
    if (point.label[i] == '\0') return false;
  }
  return true;
}

void Pass(ThreadState* thread, Target* target, uint32_t index, const End& end) {
  const uint32_t number = target->points[index] - 1U;
  const shm::ProbePlanPoint& point = PlanPoint(number);
  const bool is_entry = end.flag == shm::kProbeEntered;
  if ((point.when & (is_entry ? shm::kProbeEntry : shm::kProbeReturn)) == 0) return;
  Hit hit = {};
  hit.kind = shm::kProbePoint;
  hit.flags = static_cast<uint16_t>(end.flag);
  hit.ticks = end.ticks;
  if (point.stack != 0) hit.registers = end.registers;
  if (HasValue(point, is_entry)) {
    hit.flags |= shm::kProbeHasValue;
    hit.value = is_entry ? intercept::ArgumentAt(end.arguments, point.value - 1U) : end.result;
  }
  const uint32_t event = PlanEventOfPoint(number);
  if (point.begins != 0 && is_entry == ((point.when & shm::kProbeEntry) != 0)) {
    const uint32_t site = Kept(&target->events[index], TextOf(*target, point.event));
    if (site == kNoSite) return LoseWithoutRing(process.own);
    hit.kind = shm::kProbeBegin;
    hit.event = NewEvent(thread, site);
    PutAt(thread, hit, site);
    if (!HasOwnLabel(point)) return;
    hit.kind = shm::kProbePoint;
    hit.registers = nullptr;
  } else if (event == 0 || !FindEvent(thread, event, &hit.event)) {
    hit.event = InnermostEvent(thread);
  } else if (point.ends != 0 && is_entry == ((point.when & shm::kProbeReturn) == 0)) {
    hit.kind = shm::kProbeEnd;
  }
  const char* const label = *point.label != '\0' ? point.label : point.event;
  PutAt(thread, hit, Kept(&target->sites[index], TextOf(*target, label)));
  if (hit.kind == shm::kProbeEnd) ForgetEvent(thread, hit.event);
}

void PassAll(ThreadState* thread, Target* target, const End& end) {
  if (__atomic_load_n(&target->symbol, __ATOMIC_ACQUIRE) == nullptr) return;
  for (uint32_t i = 0; i < kPointsOfTarget && target->points[i] != 0; ++i) {
    Pass(thread, target, i, end);
  }
}

}  // namespace

extern "C" __attribute__((visibility("hidden"))) Entry fieldcost_probe_enter(
    uint32_t what, uint64_t* return_slot, const shm::ProbeRegisters* registers) {
  if ((what & intercept::kNoticeFlag) != 0) {
    return intercept::EnterNotice(what, return_slot, true);
  }
  Target* const target = &process.targets[what];
  const Entry straight = {nullptr, target->address};
  if (target->automatic != 0) PassBeforeCall(*target, return_slot);
  if (target->points[0] == 0 && target->takes_return == 0) return straight;
  ThreadState* const thread = BeginHit(target->points[0] != 0 ? Asks::kYes : Asks::kNo,
                                       reinterpret_cast<uint64_t>(return_slot), process.own);
  if (thread == nullptr) return straight;
  PassAll(thread, target, {shm::kProbeEntered, Now(), return_slot, 0, registers});
  Record* const record = target->takes_return != 0 ? BeginCall(thread, what, return_slot) : nullptr;
  if (target->takes_return != 0 && record == nullptr) LoseWithoutRing(process.own);
  EndHit(thread);
  return record != nullptr ? Entry{record, record->target} : straight;
}

extern "C" __attribute__((visibility("hidden"))) void fieldcost_probe_exit(
    Record* record, uint64_t result, const shm::ProbeRegisters* registers) {
  Target* const target = &process.targets[record->thunk];
  // The owner may be gone, as after fork().
  const bool is_owned = fieldcost_current.epoch == Attached() && fieldcost_current.epoch != 0 &&
                        record->owner == fieldcost_current.thread;
  const uint64_t here = record->stack_pointer;
  if (!is_owned) __atomic_store_n(&record->state, intercept::kReturned, __ATOMIC_RELEASE);
  if (target->look == kMain) PassExit();
  ThreadState* const thread =
      BeginHit(target->points[0] != 0 ? Asks::kYes : Asks::kNo, here, process.own);
  if (thread == nullptr) {
    if (is_owned) record->state = intercept::kReturned;
    return;
  }
  PassAll(thread, target, {shm::kProbeReturned, Now(), nullptr, result, registers});
  if (is_owned) EndCall(thread, record);
  EndHit(thread);
}

}  // namespace fieldcost::probe_preload
