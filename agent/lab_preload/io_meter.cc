#include "agent/lab_preload/io_meter.h"

#include "agent/intercept/hooks.h"
#include "agent/intercept/io_wrappers.h"
#include "agent/intercept/mapped_memory.h"
#include "agent/intercept/slots.h"
#include "common/shm/cell_writer.h"

namespace fieldcost::lab_preload {
namespace {

// Indices into ThreadState::io, and the distance from what comes in to what goes out.
constexpr uint32_t kDisk = 0;
constexpr uint32_t kNet = 2;
constexpr uint32_t kIn = 0;
constexpr uint32_t kOut = 1;

void Add(ThreadState* thread, int fd, uint32_t direction, uint64_t bytes) {
  switch (intercept::KindOfFile(fd)) {
    case intercept::FileKind::kDisk:
      thread->io[kDisk + direction] += bytes;
      return;
    case intercept::FileKind::kNet:
      thread->io[kNet + direction] += bytes;
      return;
    case intercept::FileKind::kOther:
      return;
  }
}

void Hide(uint32_t api) {
  uint32_t* const flags = &ApiOf(api)->flags;
  if ((__atomic_load_n(flags, __ATOMIC_RELAXED) & shm::kLabHidesIo) != 0) return;
  __atomic_fetch_or(flags, shm::kLabHidesIo, __ATOMIC_RELAXED);
}

// The block's bytes, made at the first call that moves any. Null if there is no room.
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
  for (uint32_t i = 0; i < shm::kLabIoMetrics; ++i) {
    const uint64_t bytes = thread->io[i] - record.io[i];
    if (__builtin_expect(bytes == 0, 1)) continue;
    shm::LabIoBlock* const block = IoBlockOf(reinterpret_cast<shm::LabMapBlock*>(record.block));
    if (block == nullptr) return Hide(record.api);
    shm::AddToCell(&block->moved[i], bytes, 0);
  }
}

void HideIo(ThreadState* thread, uint32_t api) {
  if (api != intercept::kNoThunk) Hide(api);
  for (const Record* record = thread->top; record != nullptr; record = record->below) {
    Hide(record->api);
  }
  for (uint32_t i = 0; i < thread->unrecorded_count; ++i) Hide(thread->unrecorded[i]);
}

}  // namespace fieldcost::lab_preload

namespace fieldcost::intercept {

// Counts also while a call's beginning or end is being written down: the counters have one writer
// per addition, and a signal handler's bytes belong to the call that it interrupts.
void OnTransfer(int from, int to, uint64_t bytes) {
  lab_preload::ThreadState* const thread = lab_preload::fieldcost_current_thread;
  if (thread == nullptr || !lab_preload::IsAttached() || thread->top == nullptr) return;
  if (from != kNoFile) lab_preload::Add(thread, from, lab_preload::kIn, bytes);
  if (to != kNoFile) lab_preload::Add(thread, to, lab_preload::kOut, bytes);
}

}  // namespace fieldcost::intercept
