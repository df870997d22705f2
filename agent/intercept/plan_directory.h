#pragma once

#include <stdint.h>

namespace fieldcost::intercept {

// The in-memory directory, which cannot fault, where the process that started this program left a
// plan and where the library creates its file. All functions but MapPlan REQUIRE that MapPlan
// succeeded.

// Maps the plan, which never changes: the file of that name in the directory that the environment
// variable names. Returns null if it does not exist, does not belong to the effective user or is
// accessible to others, or if this process may not take part (AT_SECURE).
const void* MapPlan(char** environment, const char* variable, const char* plan_name,
                    uint64_t* size);
void UnmapPlan(const void* plan, uint64_t size);

// Returns a descriptor of the directory, or -errno.
int64_t OpenPlanDirectory();

// The path and the file name of the running program; "" if unknown.
const char* ProgramPath();
const char* ProgramName();

}  // namespace fieldcost::intercept
