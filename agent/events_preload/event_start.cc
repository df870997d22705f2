// The library's only entry besides the hooks that compilers call: a constructor that returns at
// once unless there is a plan for this process. After any failure the library is inert, and the
// tracer finds no arena.
#include <sys/mman.h>
#include <sys/syscall.h>

#include "agent/events_preload/arena.h"
#include "agent/events_preload/event_plan_reader.h"
#include "agent/events_preload/event_thread_state.h"
#include "agent/events_preload/memory_meter.h"
#include "agent/intercept/elf_object.h"
#include "agent/intercept/every_call.h"
#include "agent/intercept/objects.h"
#include "agent/intercept/x86_64/machine.h"

// The library's first byte, and the end of its code.
extern "C" __attribute__((visibility("hidden"))) const char __ehdr_start[];
extern "C" __attribute__((visibility("hidden"))) const char etext[];

namespace fieldcost::events_preload {

Process fieldcost_process;
uint32_t fieldcost_takes_time;  // always 0: handlers read the time themselves

namespace {

bool MakeMemory() {
  process.threads = intercept::MapArray<ThreadState>(shm::kThreadSlots);
  process.records = intercept::MapArray<Record>(uint64_t{kRecords} * shm::kThreadSlots);
  return process.threads != nullptr && process.records != nullptr &&
         madvise(process.threads, sizeof(ThreadState) * shm::kThreadSlots, MADV_DONTFORK) == 0 &&
         intercept::MakeTables();
}

// Loads our code into memory before the first event, so that our page faults are not attributed to
// the program.
void FetchCode() {
  constexpr int kMadvPopulateRead = 22;  // Linux 5.14
  const uint64_t begin = intercept::PageOf(reinterpret_cast<uint64_t>(__ehdr_start));
  const uint64_t end = intercept::PageEndAfter(reinterpret_cast<uint64_t>(etext));
  intercept::SystemCall(SYS_madvise, begin, end - begin, kMadvPopulateRead);
}

bool Begin() {
  if (!MakeMemory()) return false;
  const shm::TracePlanHeader& plan = Plan();
  if (!intercept::MayIntercept(plan.data_slots != 0, intercept::KeepsRecords())) return false;
  if (!CreateArena()) return false;
  KnowModulesAtStart();

  const intercept::SlotSpace space = intercept::Objects(true);
  intercept::InterceptNotices();
  InstallMeters(space);
  intercept::StandBeforeCalls(space, 0);
  FetchCode();
  fieldcost_attached[0] = kAttached | plan.events;
  CurrentThread();  // time of the first thread outside of all frames belongs to the root
  return true;
}

__attribute__((constructor)) void Start(int, char**, char** environment) {
  if (intercept::IsKnownLibc() && ReadPlan(environment)) Begin();
}

}  // namespace
}  // namespace fieldcost::events_preload
