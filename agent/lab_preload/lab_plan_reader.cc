#include "agent/lab_preload/lab_plan_reader.h"

#include "agent/intercept/plan_directory.h"
#include "agent/intercept/text_builder.h"

namespace fieldcost::lab_preload {
namespace {

const shm::LabPlanHeader* plan;
const char* globs;

bool IsUsable(const shm::LabPlanHeader& header, uint64_t size) {
  return size <= shm::kMaxLabPlanBytes &&
         (header.mode == shm::kLabMap || header.mode == shm::kLabTime) &&
         header.entry_count <= shm::kLabApis && header.glob_bytes >= 1 &&
         size ==
             sizeof header + header.entry_count * sizeof(shm::LabPlanEntry) + header.glob_bytes &&
         header.tsc_to_ns_multiplier != 0 &&
         reinterpret_cast<const char*>(&header)[size - 1] == '\0';
}

}  // namespace

bool ReadPlan(char** environment) {
  plan = intercept::ReadPlan<shm::LabPlanHeader>(environment, shm::kLabDirectoryVariable,
                                                 shm::kLabPlanName, shm::kLabPlanMagic,
                                                 shm::kLabVersion, IsUsable);
  if (plan == nullptr) return false;
  globs = reinterpret_cast<const char*>(plan) + plan->size_bytes - plan->glob_bytes;
  return true;
}

const shm::LabPlanHeader& Plan() { return *plan; }

bool IsWanted(const char* module, const char* symbol) {
  return globs[0] == '\0' || intercept::NamesApi(globs, module, symbol);
}

PlannedApi PlanOf(uint64_t api_hash) {
  // A map run records everything.
  if (plan->mode == shm::kLabMap) return {shm::kLabTimed, shm::kNoArgument};
  const auto* const entries = reinterpret_cast<const shm::LabPlanEntry*>(plan + 1);
  uint32_t low = 0;
  uint32_t high = plan->entry_count;
  while (low < high) {
    const uint32_t middle = (low + high) / 2;
    if (entries[middle].api_hash == api_hash) {
      return {entries[middle].role, entries[middle].argument};
    }
    if (entries[middle].api_hash < api_hash) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return {shm::kLabNew, shm::kNoArgument};
}

}  // namespace fieldcost::lab_preload
