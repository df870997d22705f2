#include "agent/events_preload/memory_meter.h"

#include "agent/events_preload/event_calls.h"
#include "agent/intercept/alloc_wrappers.h"
#include "agent/intercept/block_size.h"
#include "agent/intercept/hidden_io.h"
#include "agent/intercept/hooks.h"
#include "agent/intercept/io_wrappers.h"
#include "agent/intercept/map_wrappers.h"
#include "agent/intercept/wrappers.h"

// Attributes allocated and freed bytes and blocks to the innermost frame. Preserves errno as the
// real function set it.

namespace fieldcost::events_preload {
namespace {

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

}  // namespace

void InstallMeters(const intercept::SlotSpace& space) {
  intercept::InstallWrappers(intercept::kAllocFunctions, intercept::kAllocFunctionCount, space, 0);
  intercept::InstallFreeWrapper(space);
  intercept::InstallWrappers(intercept::kIoFunctions, intercept::kIoFunctionCount, space, 0);
  intercept::InstallHiddenIo(space);
  intercept::InstallWrappers(intercept::kMapFunctions, intercept::kMapFunctionCount, space, 0);
  uint32_t metrics = (1U << shm::kTraceMetrics) - 1;
  if (!intercept::KnowsBlockSizes()) metrics &= ~(1U << shm::kTraceFreedBytes);
  process.header->metrics = metrics;
}

}  // namespace fieldcost::events_preload

namespace fieldcost::intercept {

using events_preload::CountingThread;
using events_preload::fieldcost_current_thread;
using events_preload::ThreadState;

void OnAllocation(const void* /*block*/, size_t bytes, uint64_t /*caller*/) {
  ThreadState* const thread = CountingThread(events_preload::Here());
  if (thread == nullptr || thread->counting_stopped != 0) return;
  uint64_t* const values = thread->top->node->values;
  values[shm::kTraceAllocatedBytes] += bytes;
  ++values[shm::kTraceAllocatedBlocks];
  thread->edge->bytes += bytes;
}

size_t SizeOfBlock(const void* block) {
  return KnowsBlockSizes() && events_preload::Takes(events_preload::kAttached)
             ? KnownBlockSize(block)
             : 0;
}

void OnFree(size_t bytes) {
  ThreadState* const thread = CountingThread(events_preload::Here());
  if (thread == nullptr) return;
  uint64_t* const values = thread->top->node->values;
  values[shm::kTraceFreedBytes] += bytes;
  ++values[shm::kTraceFreedBlocks];
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
