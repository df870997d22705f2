#include "agent/probe_preload/automatic.h"

#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#include "agent/intercept/x86_64/machine.h"
#include "agent/probe_preload/probe_plan_reader.h"
#include "agent/probe_preload/probe_targets.h"
#include "agent/probe_preload/ring.h"
#include "agent/probe_preload/sites.h"

namespace fieldcost::probe_preload {
namespace {

constexpr AutomaticFunction kFunctions[] = {
    {"__libc_start_main", shm::kProbeMain, kStartsMain},
    {"dlmopen", shm::kProbeDlopen, kAlways},
    {"dlopen", shm::kProbeDlopen, kAlways},
    {"execl", shm::kProbeExec, kAlways},
    {"execle", shm::kProbeExec, kAlways},
    {"execlp", shm::kProbeExec, kAlways},
    {"execv", shm::kProbeExec, kAlways},
    {"execve", shm::kProbeExec, kAlways},
    {"execveat", shm::kProbeExec, kAlways},
    {"execvp", shm::kProbeExec, kAlways},
    {"execvpe", shm::kProbeExec, kAlways},
    {"fexecve", shm::kProbeExec, kAlways},
    {"_Exit", shm::kProbeExit, kAlways},
    {"_exit", shm::kProbeExit, kAlways},
    {"exit", shm::kProbeExit, kAlways},
    {"quick_exit", shm::kProbeExit, kAlways},
    {"dprintf", shm::kProbeFirstOutput, kDescriptor},
    {"vdprintf", shm::kProbeFirstOutput, kDescriptor},
    {"write", shm::kProbeFirstOutput, kDescriptor},
    {"writev", shm::kProbeFirstOutput, kDescriptor},
    {"__printf_chk", shm::kProbeFirstOutput, kAlways},
    {"__vprintf_chk", shm::kProbeFirstOutput, kAlways},
    {"perror", shm::kProbeFirstOutput, kAlways},
    {"printf", shm::kProbeFirstOutput, kAlways},
    {"putchar", shm::kProbeFirstOutput, kAlways},
    {"putchar_unlocked", shm::kProbeFirstOutput, kAlways},
    {"puts", shm::kProbeFirstOutput, kAlways},
    {"vprintf", shm::kProbeFirstOutput, kAlways},
    {"__fprintf_chk", shm::kProbeFirstOutput, kFile1},
    {"__overflow", shm::kProbeFirstOutput, kFile1},
    {"__vfprintf_chk", shm::kProbeFirstOutput, kFile1},
    {"fflush", shm::kProbeFirstOutput, kFile1},
    {"fflush_unlocked", shm::kProbeFirstOutput, kFile1},
    {"fprintf", shm::kProbeFirstOutput, kFile1},
    {"vfprintf", shm::kProbeFirstOutput, kFile1},
    {"_IO_putc", shm::kProbeFirstOutput, kFile2},
    {"fputc", shm::kProbeFirstOutput, kFile2},
    {"fputc_unlocked", shm::kProbeFirstOutput, kFile2},
    {"fputs", shm::kProbeFirstOutput, kFile2},
    {"fputs_unlocked", shm::kProbeFirstOutput, kFile2},
    {"fputwc", shm::kProbeFirstOutput, kFile2},
    {"fputws", shm::kProbeFirstOutput, kFile2},
    {"putc", shm::kProbeFirstOutput, kFile2},
    {"putc_unlocked", shm::kProbeFirstOutput, kFile2},
    {"putwc", shm::kProbeFirstOutput, kFile2},
    {"fwrite", shm::kProbeFirstOutput, kFile4},
    {"fwrite_unlocked", shm::kProbeFirstOutput, kFile4},
};

// One bit per first letter, which rejects most names in a program quickly.
constexpr uint64_t LetterOf(char c) { return uint64_t{1} << (static_cast<unsigned char>(c) & 63); }
constexpr uint64_t FirstLetters() {
  uint64_t letters = 0;
  for (const AutomaticFunction& function : kFunctions) letters |= LetterOf(*function.name);
  return letters;
}

bool IsStandardFile(uint64_t file) {
  return file == reinterpret_cast<uint64_t>(stdout) || file == reinterpret_cast<uint64_t>(stderr);
}

bool Looks(uint8_t look, const uint64_t* return_slot) {
  switch (look) {
    case kDescriptor:
      return static_cast<uint32_t>(intercept::ArgumentAt(return_slot, 0)) - 1 < 2;
    case kFile1:
      return IsStandardFile(intercept::ArgumentAt(return_slot, 0));
    case kFile2:
      return IsStandardFile(intercept::ArgumentAt(return_slot, 1));
    case kFile4:
      return IsStandardFile(intercept::ArgumentAt(return_slot, 3));
    default:
      return true;
  }
}

bool IsThisProcess() {
  return Attached() != 0 && intercept::SystemCall(SYS_getpid) == intercept::host.pid;
}

bool IsFirst(uint32_t* seen) { return __atomic_exchange_n(seen, 1, __ATOMIC_RELAXED) == 0; }

}  // namespace

const AutomaticFunction* AutomaticCalled(const char* name) {
  if ((FirstLetters() & LetterOf(*name)) == 0) return nullptr;
  for (const AutomaticFunction& function : kFunctions) {
    if (strcmp(function.name, name) != 0) continue;
    // The return of main is recorded only if its beginning is.
    const uint32_t wanted =
        function.look == kStartsMain ? shm::kProbeMain | shm::kProbeExit : uint32_t{function.point};
    return (Plan().automatic & wanted) != 0 ? &function : nullptr;
  }
  return nullptr;
}

void PassAutomatic(shm::ProbeAutomatic point) {
  if ((Plan().automatic & point) == 0 || !IsThisProcess()) return;
  ThreadState* const thread = BeginHit(Asks::kNo, intercept::StackPointer(), process.own);
  if (thread == nullptr) return;
  Hit hit = {};
  hit.ticks = Now();
  const bool ends = point == shm::kProbeExit && process.own.run == process.run;
  hit.kind = ends ? shm::kProbeEnd : shm::kProbePoint;
  hit.event = process.own;
  hit.site = AutomaticSite(point);
  if (hit.site != kNoSite) Put(thread, hit);
  EndHit(thread);
}

void PassExit() {
  if (!IsThisProcess() || !IsFirst(&process.exit_seen)) return;
  PassAutomatic(shm::kProbeExit);
  process.header->ended = 1;
}

void PassBeforeCall(const Target& target, uint64_t* return_slot) {
  if (target.look == kStartsMain) return StandBeforeMain(&intercept::ArgumentAt(return_slot, 0));
  const auto point = static_cast<shm::ProbeAutomatic>(target.automatic);
  if (point == shm::kProbeExit) return PassExit();
  if (point != shm::kProbeFirstOutput) return PassAutomatic(point);
  if (process.output_seen != 0 || !Looks(target.look, return_slot) || !IsThisProcess() ||
      !IsFirst(&process.output_seen)) {
    return;
  }
  PassAutomatic(point);
  LeaveOutputFunctions();
}

}  // namespace fieldcost::probe_preload
