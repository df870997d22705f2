#include "agent/preload/run_file_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "agent/intercept/cycle_clock.h"
#include "agent/intercept/hidden_io.h"
#include "agent/intercept/mapped_memory.h"
#include "agent/intercept/text_builder.h"
#include "agent/intercept/x86_64/machine.h"
#include "agent/preload/memory_directory.h"
#include "agent/preload/preload_workspace.h"
#include "agent/preload/process_state.h"
#include "common/shm/run_file.h"
#include "common/shm/selection.h"

namespace fieldcost::preload {
namespace {

using intercept::CopyText;
using intercept::SystemCall;
using intercept::UnixNanoseconds;

using intercept::kPageBytes;

uint32_t MetricCount() { return static_cast<uint32_t>(__builtin_popcount(process.metrics)); }

uint32_t Picoseconds(uint64_t ticks) {
  return intercept::PicosecondsOf(ticks, process.ticks_to_ns);
}

// Growing a file beyond the limit would raise SIGXFSZ; and a program with little address space
// could miss what is mapped.
bool IsRoomFor(uint64_t size) {
  return LimitOf(RLIMIT_FSIZE) >= size && LimitOf(RLIMIT_AS) / 2 >= size;
}

// Fills the head of the file, except `complete`.
void FillHeader(const RunRequest& request, uint64_t random, uint64_t size, shm::RunHeader* header) {
  const uint32_t capacity = process.pick_capacity;
  const bool stays_here = request.is_forced() || request.is_only_asked();
  memcpy(header->magic, shm::kRunMagic, sizeof header->magic);
  header->version = shm::kRunVersion;
  header->header_bytes = sizeof(shm::RunHeader);
  header->size_bytes = size;
  if (request.is_forced()) header->flags = shm::kRunForced;
  if (request.is_only_asked()) header->flags = shm::kRunAsked;
  header->policy_serial = request.policy.policy_serial;
  header->pid = intercept::host.pid;
  header->pick_capacity = capacity;
  header->selection_per_65536 = request.policy.selection_per_65536;
  header->start_unix_ns = UnixNanoseconds();
  header->tsc_to_ns_multiplier = process.ticks_to_ns;
  header->start_tsc = intercept::ReadTimeStamp();
  header->metrics_per_pick = MetricCount();
  header->thread_slots = shm::kThreadSlots;
  header->counters_offset = shm::CountersOffset(capacity);
  header->cells_offset = shm::CellsOffset(capacity);
  header->random_draw = random;
  header->request_id = request.request_id;
  header->attached = 1;
  header->timed_call_ps = process.timed_call_ps;
  header->untimed_call_ps = process.untimed_call_ps;
  header->bias_ps = Picoseconds(process.bias_ticks);
  header->bias_spread_ps = Picoseconds(process.bias_spread_ticks);
  if (!stays_here && request.policy.io_per_65536 < shm::kCertain) {
    header->time_per_65536 = shm::kCertain - request.policy.io_per_65536;
  }
}

// Creates the file `name` with this first page and maps it. Returns null, leaving no file, if any
// step fails.
void* MakeAndMap(const RunRequest& request, const char* name, const void* page, uint64_t size) {
  const int64_t runs = OpenInMemory(request, shm::kRunDirectoryName, O_RDONLY | O_DIRECTORY);
  if (runs < 0) return nullptr;
  void* const mapped = intercept::MakeMappedFile(
      runs, name, {page, kPageBytes, offsetof(shm::RunHeader, complete)}, size);
  SystemCall(SYS_close, static_cast<uint64_t>(runs));
  return mapped;
}

}  // namespace

shm::Skip CreateRunFile(const RunRequest& request, uint64_t random) {
  const uint32_t capacity = process.pick_capacity;
  const uint64_t size = shm::RunFileBytes(capacity, MetricCount());
  if (!IsRoomFor(size)) return shm::Skip::kTightLimits;

  // Assembled here and written with one call, which costs the host a few microseconds; the first
  // store to a new page through a mapping costs hundreds in the file system (measured). The page
  // includes room for the first picks.
  static char page[kPageBytes];
  auto* const header = reinterpret_cast<shm::RunHeader*>(page);
  FillHeader(request, random, size, header);

  char name[48];
  intercept::TextBuilder(name, sizeof name)
      .Add(request.is_only_asked() ? shm::kAskedRunPrefix : "")
      .AddHex(random)
      .AddHex(header->start_tsc)
      .Add(shm::kRunFileSuffix);
  void* const mapped = MakeAndMap(request, name, page, size);
  if (mapped == nullptr) return shm::Skip::kNoRunFile;

  const auto begin = reinterpret_cast<uint64_t>(mapped);
  process.header = static_cast<shm::RunHeader*>(mapped);
  process.counters = begin + header->counters_offset;
  process.counter_slot_bytes = shm::CounterSlotBytes(capacity);
  process.cells = begin + header->cells_offset;
  process.pick_bytes = MetricCount() * sizeof(shm::Cell);
  process.slot_bytes = process.pick_bytes * capacity;
  return kNoSkip;
}

bool CanBeDescribed(const Candidate& candidate) {
  // A truncated name would be another API's.
  return strlen(candidate.symbol) < sizeof(shm::Pick::symbol) &&
         strlen(candidate.module) < sizeof(shm::Pick::soname) &&
         strlen(candidate.version) < sizeof(shm::Pick::symbol_version);
}

shm::Pick* DescribePick(const Candidate& candidate, uint32_t sampling_log2) {
  if (!CanBeDescribed(candidate)) return nullptr;
  const uint32_t index = process.header->pick_count;
  if (index == process.pick_capacity) return nullptr;
  auto* const pick = reinterpret_cast<shm::Pick*>(process.header + 1) + index;
  const auto begin = reinterpret_cast<uint64_t>(pick);
  // The first page was written when the file was created.
  const uint64_t first_page_end = reinterpret_cast<uint64_t>(process.header) + kPageBytes;
  if (begin + sizeof *pick > first_page_end && !intercept::Populate(begin, sizeof *pick))
    return nullptr;
  CopyText(pick->soname, candidate.module);
  CopyText(pick->symbol, candidate.symbol);
  CopyText(pick->symbol_version, candidate.version);
  CopyText(pick->module_path, candidate.provider->path);
  pick->build_id_bytes = candidate.provider->build_id_bytes;
  memcpy(pick->build_id, candidate.provider->build_id, pick->build_id_bytes);
  pick->metrics = process.metrics;
  pick->bias_ns = Picoseconds(process.bias_ticks) / intercept::kPicosecondsPerNanosecond;
  pick->sampling_log2 = sampling_log2;
  pick->start_unix_ns = process.has_begun != 0 ? UnixNanoseconds() : process.header->start_unix_ns;
  pick->weight = candidate.weight;
  pick->selection_per_65536 = process.phase_selection_per_65536;
  pick->flags = process.phase_flags;
  pick->not_measured = 0;
  if ((process.metrics & shm::kIoMetrics) != 0) {
    pick->not_measured = intercept::NotMeasuredOf(candidate.module, candidate.symbol);
  }
  __atomic_store_n(&process.header->pick_count, index + 1, __ATOMIC_RELEASE);
  return pick;
}

}  // namespace fieldcost::preload
