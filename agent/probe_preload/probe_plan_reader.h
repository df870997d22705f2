#pragma once

#include "common/shm/probe_file.h"

namespace fieldcost::probe_preload {

// The plan that was left for this process, if any. All other functions REQUIRE that ReadPlan()
// returned true.

// Reads the plan. `environment` is the program's. Returns false if this process must not take part.
bool ReadPlan(char** environment);

const shm::ProbePlan& Plan();
const shm::ProbePlanPoint& PlanPoint(uint32_t number);  // below Plan().point_count

// Return the number of the event name of a point, or of the one that equals a label. Numbers start
// at 1, and equal names have the same number; 0: none.
uint32_t PlanEventOfPoint(uint32_t number);
uint32_t PlanEventCalled(const char* label);

// Returns whether any point is after a return.
bool PlanTakesReturns();

}  // namespace fieldcost::probe_preload
