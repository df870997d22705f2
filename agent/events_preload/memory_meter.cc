#include "agent/events_preload/memory_meter.h"

#include <string.h>

#include "agent/events_preload/event_calls.h"
#include "agent/intercept/alloc_wrappers.h"
#include "agent/intercept/hidden_io.h"
#include "agent/intercept/hooks.h"
#include "agent/intercept/io_wrappers.h"
#include "agent/intercept/map_wrappers.h"
#include "agent/intercept/wrappers.h"

// Attributes allocated and freed bytes and blocks to the innermost frame. Preserves errno as the
// real function set it.

namespace fieldcost::events_preload {
namespace {

uint64_t real_free;
uint64_t real_realloc;
// The function of the allocator that `free` belongs to; null: the sizes of freed blocks are
// unknown.
size_t (*usable_size)(void*);

// Returns the thread whose innermost node is charged; null if nothing is counted.
inline ThreadState* CountingThread(uint64_t here) {
  if (!Takes(kAttached)) return nullptr;
  ThreadState* const thread = fieldcost_current_thread;
  if (thread == nullptr || thread->busy_at != 0) return nullptr;
  const Frame& top = *thread->top;
  if (__builtin_expect(top.return_slot <= here || *top.check != top.site, 0)) {
    if (BeginEvent(kAttached, here) == nullptr) return nullptr;
    Charge(thread);
    LeaveGone(thread, here);
    EndEvent(thread);
  }
  return thread;
}

uint64_t Here() { return reinterpret_cast<uint64_t>(__builtin_frame_address(0)); }

void CountFreed(size_t bytes) {
  ThreadState* const thread = CountingThread(Here());
  if (thread == nullptr) return;
  uint64_t* const values = thread->top->node->values;
  values[shm::kTraceFreedBytes] += bytes;
  ++values[shm::kTraceFreedBlocks];
}

size_t SizeOf(void* block) {
  return usable_size != nullptr && Takes(kAttached) ? usable_size(block) : 0;
}

void Free(void* block) {
  if (block != nullptr) CountFreed(SizeOf(block));
  reinterpret_cast<void (*)(void*)>(real_free)(block);
}

void* Realloc(void* old, size_t size) {
  const size_t freed = old != nullptr ? SizeOf(old) : 0;
  void* const made = reinterpret_cast<void* (*)(void*, size_t)>(real_realloc)(old, size);
  // realloc with size 0 frees the block and returns none.
  if (old != nullptr && (made != nullptr || size == 0)) CountFreed(freed);
  if (made != nullptr) {
    intercept::OnAllocation(size, reinterpret_cast<uint64_t>(__builtin_return_address(0)));
  }
  return made;
}

const intercept::WrappedFunction kFreeing[] = {
    {"free", reinterpret_cast<uint64_t>(&Free), &real_free},
    {"realloc", reinterpret_cast<uint64_t>(&Realloc), &real_realloc},
};

// Finds malloc_usable_size of the program's allocator. A program's own allocator may have no such
// function, and libc's does not know its blocks.
void FindUsableSize(const intercept::SlotSpace& space) {
  const intercept::ElfObject* const allocator =
      intercept::ObjectAt(space.objects, space.object_count, real_free);
  if (allocator == nullptr) return;
  const Elf64_Sym* const found = intercept::FindExport(*allocator, "malloc_usable_size", "");
  if (found == nullptr || ELF64_ST_TYPE(found->st_info) != STT_FUNC) return;
  usable_size = reinterpret_cast<size_t (*)(void*)>(allocator->base + found->st_value);
}

// Wraps the malloc family except realloc, which also frees.
void InstallAllocFunctions(const intercept::SlotSpace& space) {
  size_t at = 0;
  while (strcmp(intercept::kAllocFunctions[at].name, "realloc") != 0) ++at;
  intercept::InstallWrappers(intercept::kAllocFunctions, at, space, 0);
  intercept::InstallWrappers(intercept::kAllocFunctions + at + 1,
                             intercept::kAllocFunctionCount - at - 1, space, 0);
}

}  // namespace

void InstallMeters(const intercept::SlotSpace& space) {
  InstallAllocFunctions(space);
  intercept::InstallWrappers(kFreeing, sizeof kFreeing / sizeof kFreeing[0], space, 0);
  intercept::InstallWrappers(intercept::kIoFunctions, intercept::kIoFunctionCount, space, 0);
  intercept::InstallHiddenIo(space);
  intercept::InstallWrappers(intercept::kMapFunctions, intercept::kMapFunctionCount, space, 0);
  FindUsableSize(space);
  uint32_t metrics = (1U << shm::kTraceMetrics) - 1;
  if (usable_size == nullptr) metrics &= ~(1U << shm::kTraceFreedBytes);
  process.header->metrics = metrics;
}

}  // namespace fieldcost::events_preload

namespace fieldcost::intercept {

using events_preload::CountingThread;
using events_preload::fieldcost_current_thread;
using events_preload::ThreadState;

void OnAllocation(size_t bytes, uint64_t /*caller*/) {
  ThreadState* const thread = CountingThread(events_preload::Here());
  if (thread == nullptr || thread->counting_stopped != 0) return;
  uint64_t* const values = thread->top->node->values;
  values[shm::kTraceAllocatedBytes] += bytes;
  ++values[shm::kTraceAllocatedBlocks];
  thread->edge->bytes += bytes;
}

void OnFileMapped(int fd, uint32_t reasons) {
  if (!events_preload::Takes(events_preload::kAttached)) return;
  if (KindOfFile(fd) != FileKind::kDisk) return;
  __atomic_fetch_or(&events_preload::process.header->not_measured, reasons, __ATOMIC_RELAXED);
}

bool StopCountingAllocations() {
  ThreadState* const thread = CountingThread(events_preload::Here());
  if (thread == nullptr || thread->counting_stopped != 0) return false;
  thread->counting_stopped = 1;
  return true;
}

void CountAllocationsAgain() {
  if (events_preload::Takes(events_preload::kAttached)) {
    fieldcost_current_thread->counting_stopped = 0;
  }
}

static_assert(shm::kTraceDiskWritten == shm::kTraceDiskRead + 1 &&
              shm::kTraceNetReceived == shm::kTraceDiskRead + 2 &&
              shm::kTraceNetSent == shm::kTraceDiskRead + 3);

void OnTransfer(int from, int to, uint64_t bytes) {
  ThreadState* const thread = CountingThread(events_preload::Here());
  if (thread == nullptr) return;
  CountTransfer(from, to, bytes, thread->top->node->values + shm::kTraceDiskRead);
}

}  // namespace fieldcost::intercept
