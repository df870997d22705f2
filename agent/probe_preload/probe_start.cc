// The library's only entry besides the functions that programs call: a constructor that returns at
// once unless there is a plan for this process. After any failure the library is inert, and the
// recorder finds no file.
#include <sys/mman.h>

#include "agent/intercept/elf_object.h"
#include "agent/intercept/every_call.h"
#include "agent/intercept/objects.h"
#include "agent/intercept/text_builder.h"
#include "agent/probe_preload/automatic.h"
#include "agent/probe_preload/modules.h"
#include "agent/probe_preload/probe_calls.h"
#include "agent/probe_preload/probe_plan_reader.h"
#include "agent/probe_preload/probe_run.h"
#include "agent/probe_preload/probe_thread_state.h"

namespace fieldcost::probe_preload {

Process fieldcost_process;
uint32_t fieldcost_takes_time;  // always 0: handlers read the time themselves
uint32_t fieldcost_takes_stacks;

namespace {

bool MakeMemory() {
  process.threads = intercept::MapArray<ThreadState>(shm::kProbeRings);
  process.records = intercept::MapArray<Record>(uint64_t{kRecords} * shm::kProbeRings);
  process.sites = intercept::MapArray<shm::ProbeSite>(shm::kProbeSites);
  return process.threads != nullptr && process.records != nullptr && process.sites != nullptr &&
         madvise(process.threads, sizeof(ThreadState) * shm::kProbeRings, MADV_WIPEONFORK) == 0 &&
         intercept::MakeTables();
}

bool Begin(char** environment) {
  if (!MakeMemory()) return false;
  process.multiplier = Plan().tsc_to_ns_multiplier;
  fieldcost_takes_stacks = Plan().stacks;
  if (!intercept::MayIntercept(true, PlanTakesReturns())) return false;
  AddModules(0);
  if (!OpenRun()) return false;
  BeginOwnEvent(intercept::EnvironmentValue(environment, "TRACEPARENT"));
  intercept::InterceptNotices();
  intercept::StandBeforeCalls(intercept::Objects(true), 0);
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
