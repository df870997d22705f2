#include "agent/events_preload/arena.h"

#include "agent/events_preload/event_plan_reader.h"
#include "agent/intercept/cycle_clock.h"
#include "agent/intercept/describe_module.h"
#include "agent/intercept/elf_object.h"
#include "agent/intercept/mapped_memory.h"
#include "agent/intercept/objects.h"
#include "agent/intercept/plan_directory.h"
#include "agent/intercept/text_builder.h"
#include "agent/intercept/x86_64/machine.h"

namespace fieldcost::events_preload {
namespace {

using intercept::ElfObject;

// Address ranges of the modules, stored more compactly than in the file.
struct ModuleRange {
  uint64_t begin;
  uint64_t end;  // 0: not set yet
};
ModuleRange ranges[shm::kTraceModules];

// The reciprocal of the share of chunks that is reserved for [other] and for first nodes of
// threads.
constexpr uint32_t kReservedPart = 16;

void FillHeader(shm::TraceHeader* header) {
  const shm::TracePlanHeader& plan = Plan();
  intercept::BeginHeader(header, shm::kTraceMagic, shm::kTraceVersion,
                         shm::TraceFileBytes(plan.arena_bytes), plan.tsc_to_ns_multiplier);
  header->events = plan.events;
  header->arena_bytes = plan.arena_bytes;
  header->start_unix_ns = intercept::UnixNanoseconds();
  header->start_monotonic_ns = intercept::ReadClock(CLOCK_MONOTONIC);
  header->start_ticks = intercept::ReadTimeStamp();
  intercept::CopyText(header->program, intercept::ProgramPath());
}

uint32_t AddModule(const ElfObject& object) {
  const uint32_t index = __atomic_fetch_add(&process.header->module_count, 1, __ATOMIC_RELAXED);
  if (index >= shm::kTraceModules) return shm::kTraceNoModule;
  auto* const module = process.InFile<shm::TraceModule>(shm::TraceModulesOffset(), index);
  if (!intercept::Populate(reinterpret_cast<uint64_t>(module), sizeof *module)) {
    return shm::kTraceNoModule;
  }
  intercept::DescribeModule(object, module);
  intercept::CopyText(module->soname, object.soname);
  __atomic_store_n(&module->complete, 1, __ATOMIC_RELEASE);
  ranges[index].begin = object.begin;
  __atomic_store_n(&ranges[index].end, object.end, __ATOMIC_RELEASE);
  return index;
}

}  // namespace

bool CreateArena() {
  const uint64_t arena_bytes = Plan().arena_bytes;
  static shm::TraceHeader page;
  FillHeader(&page);
  if (!process.CreateFile(page, shm::kTraceFileSuffix)) return false;
  process.nodes = process.InFile<shm::TraceNode>(shm::TraceArenaOffset(), 0);
  process.all_chunks = static_cast<uint32_t>(arena_bytes / shm::kTraceChunkBytes);
  process.usual_chunks = process.all_chunks - process.all_chunks / kReservedPart;
  return true;
}

uint32_t ClaimChunk(shm::TraceChunkKind kind, uint32_t slot, bool reserved) {
  const uint32_t most = reserved ? process.all_chunks : process.usual_chunks;
  uint32_t index = __atomic_load_n(&process.header->chunk_count, __ATOMIC_RELAXED);
  do {
    if (index >= most) return kNoChunk;
  } while (!__atomic_compare_exchange_n(&process.header->chunk_count, &index, index + 1, true,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  auto* const chunk = process.InFile<shm::TraceChunk>(shm::TraceChunksOffset(), index);
  const uint64_t begin = process.file + shm::TraceArenaOffset() + index * shm::kTraceChunkBytes;
  if (!intercept::Populate(reinterpret_cast<uint64_t>(chunk), sizeof *chunk) ||
      !intercept::Populate(begin, shm::kTraceChunkBytes)) {
    return kNoChunk;
  }
  chunk->slot = static_cast<uint16_t>(slot);
  __atomic_store_n(&chunk->kind, kind, __ATOMIC_RELEASE);
  return index;
}

uint32_t KnowModule(uint64_t address) {
  uint32_t count = __atomic_load_n(&process.header->module_count, __ATOMIC_RELAXED);
  if (count > shm::kTraceModules) count = shm::kTraceModules;
  for (uint32_t i = count; i-- > 0;) {
    if (address < __atomic_load_n(&ranges[i].end, __ATOMIC_ACQUIRE) && address >= ranges[i].begin) {
      return i;
    }
  }
  ElfObject object;
  return intercept::ObjectOfAddress(address, &object) ? AddModule(object) : shm::kTraceNoModule;
}

void KnowModulesAtStart() {
  const intercept::SlotSpace space = intercept::Objects(false);
  for (uint32_t i = 0; i < space.object_count; ++i) AddModule(space.objects[i]);
}

}  // namespace fieldcost::events_preload
