#pragma once

#include <stdint.h>

#include "common/shm/lab_file.h"

namespace fieldcost::lab_preload {

// The plan that the lab has written for this process, if any. All other functions REQUIRE that
// ReadPlan() returned true.

// Reads the plan. `environment` is the program's. Returns false if this process is not measured.
bool ReadPlan(char** environment);

const shm::LabPlanHeader& Plan();

// Returns whether the plan's globs match the API.
bool IsWanted(const char* module, const char* symbol);

struct PlannedApi {
  uint32_t role;  // shm::LabRole
  uint32_t argument;
};
PlannedApi PlanOf(uint64_t api_hash);

}  // namespace fieldcost::lab_preload
