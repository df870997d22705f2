#pragma once

#include <stdint.h>

#include "common/shm/lab_file.h"

namespace fieldcost::lab_preload {

// The plan that the lab has left for this process, if it has. REQUIRES of all but the first: that
// returned true.

// Reads it. `environment` is the program's. False if this process is not to take part.
bool ReadPlan(char** environment);

const shm::LabPlanHeader& Plan();

// Whether the plan's globs name the API.
bool IsWanted(const char* module, const char* symbol);

struct PlannedApi {
  uint32_t role;  // shm::LabRole
  uint32_t argument;
};
PlannedApi PlanOf(uint64_t api_hash);

}  // namespace fieldcost::lab_preload
