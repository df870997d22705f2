#include "agent/events_preload/event_plan_reader.h"

#include "agent/intercept/plan_directory.h"
#include "agent/intercept/text_builder.h"

namespace fieldcost::events_preload {
namespace {

const shm::TracePlanHeader* plan;
const char* globs;

bool IsUsable(const shm::TracePlanHeader& header, uint64_t size) {
  constexpr uint32_t kEvents = shm::kTraceFunctions | shm::kTraceBranches | shm::kTraceCalls;
  return size <= shm::kMaxTracePlanBytes && (header.events & ~kEvents) == 0 &&
         shm::IsTraceArena(header.arena_bytes) && header.tsc_to_ns_multiplier != 0 &&
         header.glob_bytes >= 1 && size == sizeof header + header.glob_bytes &&
         reinterpret_cast<const char*>(&header)[size - 1] == '\0';
}

}  // namespace

bool ReadPlan(char** environment) {
  plan = intercept::ReadPlan<shm::TracePlanHeader>(environment, shm::kTraceDirectoryVariable,
                                                   shm::kTracePlanName, shm::kTracePlanMagic,
                                                   shm::kTraceVersion, IsUsable);
  if (plan == nullptr) return false;
  globs = reinterpret_cast<const char*>(plan + 1);
  return true;
}

const shm::TracePlanHeader& Plan() { return *plan; }

bool IsWanted(const char* module, const char* symbol) {
  return intercept::NamesApi(globs, module, symbol);
}

}  // namespace fieldcost::events_preload
