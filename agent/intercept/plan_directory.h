#pragma once

#include <stdint.h>

namespace fieldcost::intercept {

// The directory, on memory that cannot fault, in which whoever has started this program left a plan
// and to which the library leaves its file. REQUIRES of all but the first: that returned bytes.

// Maps the plan, which is never changed: the file of that name in the directory that the
// environment's variable names. Null if there is none, if it does not belong to the effective user
// or is open to others, or if this process may not take part (AT_SECURE).
const void* MapPlan(char** environment, const char* variable, const char* plan_name,
                    uint64_t* size);
void UnmapPlan(const void* plan, uint64_t size);

// A descriptor of the directory, or -errno.
int64_t OpenPlanDirectory();

// The path of the running program, and its file's name; "" if it is not known.
const char* ProgramPath();
const char* ProgramName();

}  // namespace fieldcost::intercept
