#include "agent/probe_preload/probe_plan_reader.h"

#include <string.h>

#include "agent/intercept/plan_directory.h"

namespace fieldcost::probe_preload {
namespace {

const shm::ProbePlan* plan;
bool takes_returns;
uint16_t events[shm::kMaxProbePoints];  // by point

template <uint32_t kBytes>
bool Ends(const char (&text)[kBytes]) {
  for (const char c : text) {
    if (c == '\0') return true;
  }
  return false;
}

bool IsUsable(const shm::ProbePlanPoint& point) {
  return Ends(point.pattern) && Ends(point.label) && Ends(point.event) && point.when >= 1 &&
         point.when <= shm::kProbeBoth && point.value <= 7;
}

bool IsUsable(const shm::ProbePlan& header, uint64_t size) {
  if (header.point_count > shm::kMaxProbePoints || header.session == 0 ||
      size != sizeof header + header.point_count * sizeof(shm::ProbePlanPoint)) {
    return false;
  }
  const auto* const points = reinterpret_cast<const shm::ProbePlanPoint*>(&header + 1);
  for (uint32_t i = 0; i < header.point_count; ++i) {
    if (!IsUsable(points[i])) return false;
    if ((points[i].when & shm::kProbeReturn) != 0) takes_returns = true;
  }
  return true;
}

}  // namespace

bool ReadPlan(char** environment) {
  plan = intercept::ReadPlan<shm::ProbePlan>(environment, shm::kProbeDirectoryVariable,
                                             shm::kProbePlanName, shm::kProbePlanMagic,
                                             shm::kProbeVersion, IsUsable);
  if (plan == nullptr) return false;
  for (uint32_t i = 0; i < plan->point_count; ++i) {
    events[i] = static_cast<uint16_t>(PlanEventCalled(PlanPoint(i).event));
  }
  return true;
}

const shm::ProbePlan& Plan() { return *plan; }

const shm::ProbePlanPoint& PlanPoint(uint32_t number) {
  return reinterpret_cast<const shm::ProbePlanPoint*>(plan + 1)[number];
}

uint32_t PlanEventOfPoint(uint32_t number) { return events[number]; }

uint32_t PlanEventCalled(const char* label) {
  if (*label == '\0') return 0;
  for (uint32_t i = 0; i < plan->point_count; ++i) {
    if (strcmp(PlanPoint(i).event, label) == 0) return i + 1;
  }
  return 0;
}

bool PlanTakesReturns() { return takes_returns; }

}  // namespace fieldcost::probe_preload
