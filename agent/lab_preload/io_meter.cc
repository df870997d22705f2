#include "agent/lab_preload/io_meter.h"

#include "agent/intercept/hooks.h"
#include "agent/intercept/io_wrappers.h"
#include "agent/intercept/mapped_memory.h"
#include "agent/intercept/slots.h"
#include "common/shm/cell_writer.h"

namespace fieldcost::lab_preload {
namespace {

// Marks calls whose bytes were not recorded for lack of memory.
constexpr uint32_t kIoLost = shm::kDiskInsideLibc | shm::kNetInsideLibc;

void Hide(uint32_t api, uint32_t reasons) {
  uint32_t* const known = &ApiOf(api)->not_measured;
  if ((reasons & ~__atomic_load_n(known, __ATOMIC_RELAXED)) == 0) return;
  __atomic_fetch_or(known, reasons, __ATOMIC_RELAXED);
}

// Returns the block's byte counts, created at the first call that transfers any. Null if there is
// no room.
shm::LabIoBlock* IoBlockOf(shm::LabMapBlock* block) {
  const uint64_t blocks = process.file + shm::LabIoOffset();
  if (block->io == 0) {
    const uint32_t index = __atomic_fetch_add(&process.header->io_block_count, 1, __ATOMIC_RELAXED);
    const uint64_t begin = blocks + index * sizeof(shm::LabIoBlock);
    if (index >= shm::kLabIoBlocks || !intercept::Populate(begin, sizeof(shm::LabIoBlock))) {
      return nullptr;
    }
    block->io = index + 1;
  }
  return reinterpret_cast<shm::LabIoBlock*>(blocks) + (block->io - 1);
}

}  // namespace

void AddIo(ThreadState* thread, const Record& record) {
  const uint32_t mapped = __atomic_load_n(&process.not_measured, __ATOMIC_RELAXED);
  if (__builtin_expect(mapped != 0, 0)) Hide(record.thunk, mapped);
  for (uint32_t i = 0; i < shm::kLabIoMetrics; ++i) {
    const uint64_t bytes = thread->io[i] - record.io[i];
    if (__builtin_expect(bytes == 0, 1)) continue;
    shm::LabIoBlock* const block = IoBlockOf(reinterpret_cast<shm::LabMapBlock*>(record.block));
    if (block == nullptr) return Hide(record.thunk, kIoLost);
    shm::AddToCell(&block->moved[i], bytes, 0);
  }
}

void NotMeasured(ThreadState* thread, uint32_t api, uint32_t reasons) {
  if (api != intercept::kNoThunk) Hide(api, reasons);
  for (const Record* record = thread->top; record != nullptr; record = record->below) {
    Hide(record->thunk, reasons);
  }
  for (uint32_t i = 0; i < thread->unrecorded_count; ++i) Hide(thread->unrecorded[i], reasons);
}

}  // namespace fieldcost::lab_preload

namespace fieldcost::intercept {

// Also counts while a call's beginning or end is being recorded: each addition has one writer, and
// a signal handler's bytes belong to the call that it interrupts.
void OnTransfer(int from, int to, uint64_t bytes) {
  lab_preload::ThreadState* const thread = lab_preload::fieldcost_current_thread;
  if (thread == nullptr || !lab_preload::IsAttached() || thread->top == nullptr) return;
  CountTransfer(from, to, bytes, thread->io);
}

void OnFileMapped(int fd, uint32_t reasons) {
  if (!lab_preload::IsAttached() || KindOfFile(fd) != FileKind::kDisk) return;
  __atomic_fetch_or(&lab_preload::process.not_measured, reasons, __ATOMIC_RELAXED);
}

}  // namespace fieldcost::intercept
