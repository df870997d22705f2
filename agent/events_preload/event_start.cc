// The library's only entry besides the hooks that compilers call: a constructor that returns at
// once unless there is a plan for this process. After any failure the library is inert, and the
// tracer finds no arena.
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "agent/events_preload/arena.h"
#include "agent/events_preload/event_plan_reader.h"
#include "agent/events_preload/event_targets.h"
#include "agent/events_preload/event_thread_state.h"
#include "agent/events_preload/memory_meter.h"
#include "agent/intercept/elf_object.h"
#include "agent/intercept/hosts.h"
#include "agent/intercept/mapped_memory.h"
#include "agent/intercept/notice.h"
#include "agent/intercept/objects.h"
#include "agent/intercept/tables.h"
#include "agent/intercept/wrappers.h"
#include "agent/intercept/x86_64/machine.h"

// The library's first byte, and the end of its code.
extern "C" __attribute__((visibility("hidden"))) const char __ehdr_start[];
extern "C" __attribute__((visibility("hidden"))) const char etext[];

namespace fieldcost::events_preload {

Process fieldcost_process;
alignas(intercept::kPageBytes) uint32_t fieldcost_attached[1024];
uint32_t fieldcost_takes_time;  // always 0: handlers read the time themselves

namespace {

bool MakeMemory() {
  constexpr uint64_t kThreadBytes = sizeof(ThreadState) * shm::kThreadSlots;
  intercept::tables =
      static_cast<intercept::Tables*>(intercept::MapPrivate(sizeof(intercept::Tables)));
  process.threads = static_cast<ThreadState*>(intercept::MapPrivate(kThreadBytes));
  process.records =
      static_cast<Record*>(intercept::MapPrivate(sizeof(Record) * kRecords * shm::kThreadSlots));
  return intercept::tables != nullptr && process.threads != nullptr && process.records != nullptr &&
         madvise(process.threads, kThreadBytes, MADV_DONTFORK) == 0 &&
         madvise(fieldcost_attached, sizeof fieldcost_attached, MADV_WIPEONFORK) == 0;
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
  process.pid = static_cast<uint32_t>(intercept::SystemCall(SYS_getpid));
  process.stack_top = getauxval(AT_RANDOM);

  const bool takes_calls = (plan.events & shm::kTraceCalls) != 0;
  intercept::ListObjectsAtStart(plan.data_slots != 0);
  if (intercept::HasSanitizer() || (takes_calls && intercept::HasCollector(0))) return false;
  if (intercept::HasStackCopier(0)) process.never_reuse = 1;
  if (!CreateArena()) return false;
  KnowModulesAtStart();

  const intercept::SlotSpace space = intercept::Objects(true);
  intercept::InstallWrappersInSlots(intercept::kNotices, intercept::kFirstWaitNotice, space, 0);
  InstallMeters(space);
  if (takes_calls) StandBeforeCalls(space, 0);
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
