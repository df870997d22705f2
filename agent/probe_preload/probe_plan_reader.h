#pragma once

#include "common/shm/probe_file.h"

namespace fieldcost::probe_preload {

// The plan that was left for this process, if there is one. REQUIRES of all but the first: that
// returned true.

// Reads it. `environment` is the program's. False if this process is not to take part.
bool ReadPlan(char** environment);

const shm::ProbePlan& Plan();
const shm::ProbePlanPoint& PlanPoint(uint32_t number);  // below Plan().point_count

// The number of the event name that a point has, or that a label is: equal for equal names, from 1
// on; 0: none.
uint32_t PlanEventOfPoint(uint32_t number);
uint32_t PlanEventCalled(const char* label);

// Whether a point stands after a return.
bool PlanTakesReturns();

}  // namespace fieldcost::probe_preload
