#pragma once

#include <stdint.h>
#include <string.h>

namespace fieldcost::intercept {

// The in-memory directory, which cannot fault, where the process that started this program left a
// plan and where the library creates its file. All functions but MapPlan and ReadPlan REQUIRE that
// one of these succeeded.

// Maps the plan, which never changes: the file of that name in the directory that the environment
// variable names. Returns null if it does not exist, does not belong to the effective user or is
// accessible to others, or if this process may not take part (AT_SECURE).
const void* MapPlan(char** environment, const char* variable, const char* plan_name,
                    uint64_t* size);
void UnmapPlan(const void* plan, uint64_t size);

// The same if the plan begins with this magic and version and its size, and is_usable(plan, size).
// Returns null otherwise.
template <typename Plan>
const Plan* ReadPlan(char** environment, const char* variable, const char* plan_name,
                     const char (&magic)[8], uint32_t version,
                     bool (*is_usable)(const Plan& plan, uint64_t size)) {
  uint64_t size = 0;
  const void* const mapped = MapPlan(environment, variable, plan_name, &size);
  if (mapped == nullptr) return nullptr;
  const auto* const plan = static_cast<const Plan*>(mapped);
  if (size >= sizeof *plan && memcmp(plan->magic, magic, sizeof magic) == 0 &&
      plan->version == version && plan->size_bytes == size && is_usable(*plan, size)) {
    return plan;
  }
  UnmapPlan(mapped, size);
  return nullptr;
}

// Returns a descriptor of the directory, or -errno.
int64_t OpenPlanDirectory();

// The path and the file name of the running program; "" if unknown.
const char* ProgramPath();
const char* ProgramName();

}  // namespace fieldcost::intercept
