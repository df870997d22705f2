#pragma once

#include "common/shm/trace_file.h"

namespace fieldcost::events_preload {

// The plan that was left for this process, if any. All other functions REQUIRE that ReadPlan()
// returned true.

// Reads the plan. `environment` is the program's. Returns false if this process must not take part.
bool ReadPlan(char** environment);

const shm::TracePlanHeader& Plan();

// Returns whether the plan's globs name the API.
bool IsWanted(const char* module, const char* symbol);

}  // namespace fieldcost::events_preload
