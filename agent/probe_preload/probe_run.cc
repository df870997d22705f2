#include "agent/probe_preload/probe_run.h"

#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>

#include "agent/intercept/cycle_clock.h"
#include "agent/intercept/plan_directory.h"
#include "agent/intercept/text_builder.h"
#include "agent/intercept/x86_64/machine.h"
#include "agent/probe_preload/modules.h"
#include "agent/probe_preload/probe_events.h"
#include "agent/probe_preload/probe_plan_reader.h"
#include "agent/probe_preload/probe_targets.h"
#include "agent/probe_preload/ring.h"
#include "agent/probe_preload/sites.h"
#include "agent/probe_preload/traceparent.h"

namespace fieldcost::probe_preload {
namespace {

using intercept::SystemCall;

// Not 0 while a child of fork() opens its run. Lies on the page that a child finds zeroed.
uint32_t& Opening() { return fieldcost_attached[1]; }

// Returns a random number, or at least a unique one.
uint64_t RunNumber() {
  uint64_t run = 0;
  SystemCall(SYS_getrandom, reinterpret_cast<uint64_t>(&run), sizeof run, 0);
  if (run == 0) run = intercept::UnixNanoseconds() ^ (uint64_t{intercept::host.pid} << 40);
  return run;
}

// Returns the start of this process by CLOCK_BOOTTIME according to /proc (in steps of 10 ms); 0:
// unknown.
uint64_t ProcessStartBootNs() {
  constexpr uint64_t kNsOfTick = 10'000'000;  // USER_HZ is 100
  constexpr int kStartField = 22;             // "starttime"; field 3 follows the ')' after the name
  char text[1024];
  const int64_t fd = intercept::OpenFile("/proc/self/stat", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  const int64_t size = SystemCall(SYS_read, static_cast<uint64_t>(fd),
                                  reinterpret_cast<uint64_t>(text), sizeof text - 1);
  SystemCall(SYS_close, static_cast<uint64_t>(fd));
  if (size <= 0) return 0;
  text[size] = '\0';
  int64_t at = size;
  while (at > 0 && text[at] != ')') --at;
  for (int field = 2; field < kStartField && text[at] != '\0'; ++at) {
    if (text[at] == ' ') ++field;
  }
  uint64_t ticks = 0;
  for (; text[at] >= '0' && text[at] <= '9'; ++at) {
    ticks = ticks * 10 + static_cast<uint64_t>(text[at] - '0');
  }
  return ticks * kNsOfTick;
}

void FillHeader(shm::ProbeHeader* header) {
  memset(header, 0, sizeof *header);
  intercept::BeginHeader(header, shm::kProbeMagic, shm::kProbeVersion, shm::ProbeFileBytes(),
                         process.multiplier);
  header->session = Plan().session;
  header->run = process.run;
  header->start_ticks = Now();
  header->start_unix_ns = intercept::UnixNanoseconds();
  header->start_monotonic_ns = intercept::ReadClock(CLOCK_MONOTONIC);
  header->start_boot_ns = intercept::ReadClock(CLOCK_BOOTTIME);
  header->process_start_unix_ns = header->start_unix_ns;
  const uint64_t began = ProcessStartBootNs();
  if (began != 0 && began <= header->start_boot_ns) {
    header->process_start_unix_ns -= header->start_boot_ns - began;
  }
  // The clock of the program that started this one is more precise.
  const shm::ProbePlan& plan = Plan();
  const bool is_first = process.epoch == 0 && plan.starter_pid != 0 &&
                        (plan.starter_pid == header->parent_pid || plan.starter_pid == header->pid);
  if (is_first && plan.start_unix_ns <= header->start_unix_ns) {
    header->process_start_unix_ns = plan.start_unix_ns;
  }
  intercept::CopyText(header->program, intercept::ProgramPath());
  header->next_number = 1;
}

}  // namespace

bool OpenRun() {
  static shm::ProbeHeader page;
  intercept::host.pid = static_cast<uint32_t>(SystemCall(SYS_getpid));
  process.run = RunNumber();
  FillHeader(&page);
  if (!process.CreateFile(page, shm::kProbeFileSuffix)) return false;
  process.own = {process.run, 0};
  process.exit_seen = 0;
  process.output_seen = 0;
  KeepSites();
  KeepModules();
  KeepPlaced();
  ForgetEventsOfParent();
  ++process.epoch;
  __atomic_store_n(fieldcost_attached, process.epoch, __ATOMIC_RELEASE);
  return true;
}

__attribute__((cold)) bool OpenRunOfChild() {
  if (SystemCall(SYS_getpid) == intercept::host.pid) return false;  // detached meanwhile
  uint32_t nobody = 0;
  if (!__atomic_compare_exchange_n(&Opening(), &nobody, 1, false, __ATOMIC_ACQ_REL,
                                   __ATOMIC_RELAXED)) {
    return Attached() != 0;
  }
  if (!OpenRun()) {
    __atomic_store_n(&intercept::host.detached, 1, __ATOMIC_RELAXED);
    return false;
  }
  BeginOwnEvent("");
  return true;
}

void DetachRun() {
  __atomic_store_n(&intercept::host.detached, 1, __ATOMIC_SEQ_CST);
  // A child of fork() without a run of its own has no reader.
  if (__atomic_exchange_n(fieldcost_attached, 0, __ATOMIC_SEQ_CST) != 0) {
    process.header->attached = 0;
  }
}

void BeginOwnEvent(const char* traceparent) {
  const bool takes_start = (Plan().automatic & shm::kProbeStart) != 0;
  const shm::ProbeHeader& header = *process.header;
  Hit hit = {};
  hit.kind = shm::kProbeBegin;
  hit.ticks = header.start_ticks;
  if (takes_start) {
    const uint64_t ns = header.start_unix_ns - header.process_start_unix_ns;
    hit.ticks -= process.multiplier == 0 ? ns : intercept::TicksOf(ns, process.multiplier);
  }
  if (ReadTraceparent(traceparent, &process.own, &hit.parent)) {
    hit.kind = shm::kProbeJoin;
  }
  hit.event = process.own;
  hit.site = AutomaticSite(shm::kProbeStart);
  uint64_t here = intercept::StackPointer();
  ThreadState* const thread = BeginHit(Asks::kNo, here, process.own);
  if (thread == nullptr) return;
  Put(thread, hit);
  EndHit(thread);
}

}  // namespace fieldcost::probe_preload
