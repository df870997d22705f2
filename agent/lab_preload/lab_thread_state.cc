#include "agent/lab_preload/lab_thread_state.h"

#include <string.h>

#include "agent/intercept/mapped_memory.h"
#include "agent/intercept/text_builder.h"
#include "agent/intercept/thread_slots.h"
#include "agent/intercept/thunk.h"
#include "agent/lab_preload/lab_targets.h"

namespace fieldcost::lab_preload {

using intercept::CopyText;

__thread ThreadState* fieldcost_current_thread;

namespace {

__thread intercept::SlotBackoff backoff;

bool Prepare(ThreadState* thread, uint32_t slot, uint32_t tid) {
  thread->slot = slot;
  thread->busy_at = 0;
  thread->counting_stopped = 0;
  thread->unrecorded_count = 0;
  while (thread->top != nullptr) {  // calls from which a dead thread never returned
    ++thread->top->block->abandoned;
    Remove(thread, thread->top);
  }
  thread->stack = intercept::StackOf(tid, thread->scratch);
  return true;
}

void Drop(ThreadState* thread, Record* record) {
  ++record->block->abandoned;
  Remove(thread, record);
  record->state = intercept::kDropped;
}

// Returns whether the record's place still has the value of a call in progress: the address at
// which the thunk continues or, at the call's beginning and end, the caller's address.
bool IsInPlace(const Record& record) {
  const uint64_t holds = *reinterpret_cast<const uint64_t*>(record.stack_pointer);
  return holds == intercept::ThunkReturn() || holds == record.return_address;
}

}  // namespace

void CountLost() { __atomic_fetch_add(&process.header->lost_calls, 1, __ATOMIC_RELAXED); }

__attribute__((cold)) ThreadState* TakeSlot() {
  ThreadState* const thread =
      intercept::TakeThreadSlot(process.threads, shm::kThreadSlots, &backoff, Prepare);
  if (thread != nullptr) return fieldcost_current_thread = thread;
  CountLost();
  return nullptr;
}

__attribute__((cold)) bool Describe(uint32_t api) {
  Target& target = process.targets[api];
  if (target.described != 0) return target.described == 1;
  if (target.symbol == nullptr) return false;
  shm::LabApi* const described = ApiOf(api);
  if (!intercept::Populate(reinterpret_cast<uint64_t>(described), sizeof *described)) {
    target.described = 2;
    return false;
  }
  // Two threads may do this concurrently; they write the same values.
  CopyText(described->module, target.module);
  CopyText(described->symbol, target.symbol);
  CopyText(described->version, target.version);
  if (const intercept::ElfObject* const provider = ProviderOf(target)) {
    described->build_id_bytes = provider->build_id_bytes;
    memcpy(described->build_id, provider->build_id, provider->build_id_bytes);
    CopyText(described->path, provider->path);
  }
  uint32_t flags = shm::kLabDescribed;
  if (target.is_allocator != 0) flags |= shm::kLabAllocator;
  if (target.role == shm::kLabNew) flags |= shm::kLabSighted;
  __atomic_fetch_or(&described->flags, flags, __ATOMIC_RELEASE);
  __atomic_store_n(&target.described, 1, __ATOMIC_RELEASE);
  return true;
}

__attribute__((cold)) shm::LabBlock* MakeBlock(ThreadState* thread, uint32_t api) {
  if (!Describe(api)) {
    CountLost();
    return nullptr;
  }
  const uint32_t index = __atomic_fetch_add(&process.header->block_count, 1, __ATOMIC_RELAXED);
  const uint64_t begin = process.file + shm::LabBlocksOffset() + index * process.block_bytes;
  if (index >= shm::kLabBlocks || !intercept::Populate(begin, process.block_bytes)) {
    CountLost();
    return nullptr;
  }
  auto* const block = reinterpret_cast<shm::LabBlock*>(begin);
  block->api = api;
  block->slot = thread->slot;
  thread->apis[api].block = block;
  return block;
}

void DropGone(ThreadState* thread, uint64_t here, bool is_tail_call) {
  while (thread->top != nullptr) {
    Record* const record = thread->top;
    if (__atomic_load_n(&record->state, __ATOMIC_RELAXED) == intercept::kReturned) {
      Remove(thread, record);
      continue;
    }
    const uint64_t place = record->stack_pointer;
    if (!thread->stack.Holds(here) || !thread->stack.Holds(place)) return;
    if ((place > here || (place == here && is_tail_call)) && IsInPlace(*record)) return;
    Drop(thread, record);
  }
}

Record* Push(ThreadState* thread, uint32_t api, const uint64_t* return_slot, shm::LabBlock* block) {
  Record* const record = intercept::BeginRecord(thread, kRecords, thread->top, api,
                                                process.targets[api].address, return_slot);
  if (record == nullptr) {
    __atomic_fetch_add(&process.header->lost_records, 1, __ATOMIC_RELAXED);
    return nullptr;
  }
  record->state = intercept::kActive;
  record->below = thread->top;
  record->block = block;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  thread->top = record;
  return record;
}

void Remove(ThreadState* thread, Record* record) {
  Record** link = &thread->top;
  while (*link != record && *link != nullptr) link = &(*link)->below;
  if (*link != nullptr) *link = record->below;
  intercept::FreeRecord(thread, record);
}

__attribute__((cold)) void SetFirstPairBit(uint64_t* word, uint64_t bit) {
  // If its page exists already, this costs an unnecessary system call, once per pair.
  if (!intercept::Populate(reinterpret_cast<uint64_t>(word), sizeof *word)) return CountLost();
  __atomic_fetch_or(word, bit, __ATOMIC_RELAXED);
}

}  // namespace fieldcost::lab_preload
