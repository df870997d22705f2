// The library's only entry besides the functions that programs call: a constructor that returns at
// once unless there is a plan for this process. After any failure the library is inert, and the
// recorder finds no file.
#include <sys/auxv.h>
#include <sys/mman.h>

#include "agent/intercept/elf_object.h"
#include "agent/intercept/hosts.h"
#include "agent/intercept/mapped_memory.h"
#include "agent/intercept/notice.h"
#include "agent/intercept/objects.h"
#include "agent/intercept/tables.h"
#include "agent/intercept/text_builder.h"
#include "agent/intercept/wrappers.h"
#include "agent/intercept/x86_64/machine.h"
#include "agent/probe_preload/automatic.h"
#include "agent/probe_preload/modules.h"
#include "agent/probe_preload/probe_calls.h"
#include "agent/probe_preload/probe_plan_reader.h"
#include "agent/probe_preload/probe_run.h"
#include "agent/probe_preload/probe_targets.h"
#include "agent/probe_preload/probe_thread_state.h"

namespace fieldcost::probe_preload {

Process fieldcost_process;
alignas(intercept::kPageBytes) uint32_t fieldcost_attached[1024];
uint32_t fieldcost_takes_time;  // always 0: handlers read the time themselves
uint32_t fieldcost_takes_stacks;

namespace {

bool MakeMemory() {
  constexpr uint64_t kThreadBytes = sizeof(ThreadState) * shm::kProbeRings;
  intercept::tables =
      static_cast<intercept::Tables*>(intercept::MapPrivate(sizeof(intercept::Tables)));
  process.threads = static_cast<ThreadState*>(intercept::MapPrivate(kThreadBytes));
  process.records =
      static_cast<Record*>(intercept::MapPrivate(sizeof(Record) * kRecords * shm::kProbeRings));
  process.sites = static_cast<shm::ProbeSite*>(
      intercept::MapPrivate(sizeof(shm::ProbeSite) * shm::kProbeSites));
  return intercept::tables != nullptr && process.threads != nullptr && process.records != nullptr &&
         process.sites != nullptr && madvise(process.threads, kThreadBytes, MADV_WIPEONFORK) == 0 &&
         madvise(fieldcost_attached, sizeof fieldcost_attached, MADV_WIPEONFORK) == 0;
}

bool Begin(char** environment) {
  if (!MakeMemory()) return false;
  process.multiplier = Plan().tsc_to_ns_multiplier;
  process.stack_top = getauxval(AT_RANDOM);
  fieldcost_takes_stacks = Plan().stacks;
  intercept::ListObjectsAtStart(true);
  if (intercept::HasSanitizer() || (PlanTakesReturns() && intercept::HasCollector(0))) {
    return false;
  }
  if (intercept::HasStackCopier(0)) process.never_reuse = 1;
  AddModules(0);
  if (!OpenRun()) return false;
  BeginOwnEvent(intercept::EnvironmentValue(environment, "TRACEPARENT"));
  const intercept::SlotSpace space = intercept::Objects(true);
  intercept::InstallWrappersInSlots(intercept::kNotices, intercept::kFirstWaitNotice, space, 0);
  StandBeforeCalls(space, 0);
  PassAutomatic(shm::kProbeLoaded);
  return true;
}

__attribute__((constructor)) void Start(int, char**, char** environment) {
  process.inert = intercept::IsKnownLibc() && ReadPlan(environment) && Begin(environment) ? 0 : 1;
}

// Handles programs that end without calling exit() through a slot.
__attribute__((destructor)) void End() {
  if (process.inert == 0) PassExit();
}

}  // namespace
}  // namespace fieldcost::probe_preload
