#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>

#include "agent/preload/alloc_meter.h"
#include "agent/preload/candidates.h"
#include "agent/preload/measuring.h"
#include "agent/preload/policy.h"
#include "agent/preload/run_file_writer.h"
#include "agent/preload/sandbox.h"
#include "agent/preload/slots.h"
#include "agent/preload/x86_64/machine.h"

// The library's only entry: a constructor that leaves at once unless this process was asked to take
// part, and that otherwise picks, makes the run file and patches slots. Any failure means: inert.

namespace fieldcost::preload {

extern "C" const char fieldcost_stubs[];
extern "C" void fieldcost_empty_function();

namespace {

ElfObject objects[kMaxObjects];
Picks picks;

uint64_t StubOf(uint32_t pick) {
  return reinterpret_cast<uint64_t>(fieldcost_stubs) + uint64_t{pick} * kStubBytes;
}

void* MapPrivate(uint64_t bytes) {
  return mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
              -1, 0);
}

// Private memory: the page that a fork wipes, then the thread states.
uint32_t* MakeThreads() {
  const uint64_t bytes = 4096 + sizeof(ThreadState) * shm::kThreadSlots;
  void* const mapped = MapPrivate(bytes);
  if (mapped == MAP_FAILED) return nullptr;
  if (madvise(mapped, 4096, MADV_WIPEONFORK) != 0) {
    munmap(mapped, bytes);
    return nullptr;
  }
  process.threads = reinterpret_cast<ThreadState*>(static_cast<char*>(mapped) + 4096);
  process.attached = static_cast<const uint32_t*>(mapped);
  process.pid = static_cast<uint32_t>(SystemCall(SYS_getpid));
  process.stack_top = getauxval(AT_RANDOM);
  return static_cast<uint32_t*>(mapped);
}

// What a thunk itself adds, in ticks: the least of a few measurements of a function that does
// nothing, taken through the first pick's stub before there are picks.
uint64_t Calibrate() {
  static shm::Cell cell;  // counts ticks
  process.cells = reinterpret_cast<uint64_t>(&cell);
  process.ticks_to_ns = uint64_t{1} << 32;
  process.picks[0].target = reinterpret_cast<uint64_t>(&fieldcost_empty_function);
  process.picks[0].metrics = shm::kTimeMetrics;
  const auto call = reinterpret_cast<void (*)()>(StubOf(0));
  uint64_t least = ~uint64_t{0};
  uint64_t before = 0;
  for (int i = 0; i < 64; ++i) {
    call();
    uint64_t sum = 0;
    for (const shm::RunBucket& bucket : cell.buckets) sum += bucket.sum;
    if (sum - before < least) least = sum - before;
    before = sum;
  }
  // The thread takes its slot anew once the run file is there.
  process.threads[0] = {};
  fieldcost_current_thread = nullptr;
  return least;
}

// Points these functions' slots in every object (`data_too`: also those that serve function
// pointers and -fno-plt calls) at our wrappers.
void InstallWrappers(const AllocFunction* functions, size_t count, uint32_t object_count,
                     bool data_too) {
  ForEachSlot(objects, object_count, data_too,
              [functions, count, object_count](const ElfObject& object,
                                               const Elf64_Rela& relocation, uint64_t* slot) {
                const char* const name = NameOf(object, relocation);
                for (size_t i = 0; i < count; ++i) {
                  const AllocFunction& function = functions[i];
                  if (strcmp(name, function.name) != 0) continue;
                  const uint64_t real = ResolveSlot(object, relocation, slot);
                  if (real == 0 || !IsDefinition(objects, object_count, name, real)) break;
                  // One real function for all: the first slot found says which (they all lead to
                  // the first definition in search order).
                  if (*function.real == 0) *function.real = real;
                  if (*function.real == real) WriteSlot(object, slot, function.wrapper);
                  break;
                }
                return true;
              });
  // A picked one keeps its thunk in front of the wrapper.
  for (uint32_t i = 0; i < picks.count; ++i) {
    for (size_t k = 0; k < count; ++k) {
      if (*functions[k].real != 0 && process.picks[i].target == *functions[k].real) {
        process.picks[i].target = functions[k].wrapper;
      }
    }
  }
}

// Points every slot that leads to a picked function at that pick's stub.
void PatchPicks(uint32_t object_count) {
  ForEachSlot(
      objects, object_count, false,
      [](const ElfObject& object, const Elf64_Rela& relocation, uint64_t* slot) {
        const char* const name = NameOf(object, relocation);
        for (uint32_t i = 0; i < picks.count; ++i) {
          if (strcmp(name, picks.candidates[i].symbol) != 0) continue;
          const uint64_t leads_to = ResolveSlot(object, relocation, slot);
          if (leads_to == process.picks[i].target || leads_to == picks.candidates[i].target) {
            WriteSlot(object, slot, StubOf(i));
            break;
          }
        }
        return true;
      });
}

void Attach(const Request& request, uint64_t random) {
  const uint32_t object_count = ListObjects(objects, kMaxObjects);
  shm::MetricSet metrics = request.metrics;
  if (request.forced_pick != nullptr) {
    PickByName(request, objects, object_count, &picks);
  } else {
    PickAtRandom(request, objects, object_count, random, &picks);
    metrics = shm::kTimeMetrics;
    if (((random >> 16) & 0xffff) < request.policy->alloc_per_65536) metrics |= shm::kAllocMetrics;
  }
  if (picks.count == 0) return;
  uint32_t* const attached = MakeThreads();
  if (attached == nullptr) return;
  // Until the run file is there, losses are counted nowhere.
  static shm::RunHeader no_header;
  process.header = &no_header;
  *attached = 1;
  process.bias_ticks = Calibrate();
  process.ticks_to_ns = request.policy->tsc_to_ns_multiplier;
  __extension__ using Wide = unsigned __int128;
  const auto bias_ns =
      static_cast<uint32_t>((Wide{process.bias_ticks} * process.ticks_to_ns) >> 32);
  if (!CreateRunFile(request, picks, metrics, random, bias_ns)) {
    *attached = 0;
    return;
  }
  const uint32_t alloc_index = (metrics & shm::kTimeMetrics) != 0 ? 1 : 0;
  for (uint32_t i = 0; i < picks.count; ++i) {
    const Candidate& candidate = picks.candidates[i];
    process.picks[i] = {candidate.target, candidate.code_begin, candidate.code_end, metrics,
                        alloc_index};
  }
  InstallWrappers(kSandboxFunctions, kSandboxFunctionCount, object_count, false);
  if ((metrics & shm::kAllocMetrics) != 0) {
    InstallWrappers(kAllocFunctions, kAllocFunctionCount, object_count, true);
  }
  PatchPicks(object_count);
}

__attribute__((constructor)) void Start(int, char**, char** environment) {
  Request request;
  if (!ReadRequest(environment, &request)) return;
  uint64_t random = 0;
  if (SystemCall(SYS_getrandom, reinterpret_cast<uint64_t>(&random), sizeof random,
                 GRND_NONBLOCK) == sizeof random &&
      TakesPart(request, random)) {
    Attach(request, random >> 32 | random << 32);
  }
  ReleasePolicy(request);
}

}  // namespace
}  // namespace fieldcost::preload
