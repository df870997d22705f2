#include "agent/lab_preload/thread_state.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>

#include "agent/intercept/mapped_memory.h"
#include "agent/intercept/mappings.h"
#include "agent/intercept/text.h"
#include "agent/intercept/thunk.h"
#include "agent/intercept/x86_64/machine.h"
#include "agent/lab_preload/targets.h"

namespace fieldcost::lab_preload {

using intercept::SystemCall;

__thread ThreadState* fieldcost_current_thread;

namespace {

// Calls of a thread without a slot before it asks again: asking is a system call for each slot.
constexpr uint32_t kFirstBackoff = 64;
constexpr uint32_t kLastBackoff = 1U << 20;
__thread uint32_t slot_in;
__thread uint32_t slot_backoff;

ThreadState* Claim(uint32_t slot, uint32_t expected_tid, uint32_t tid) {
  ThreadState* const thread = &process.threads[slot];
  if (!__atomic_compare_exchange_n(&thread->owner_tid, &expected_tid, tid, false, __ATOMIC_ACQ_REL,
                                   __ATOMIC_RELAXED)) {
    return nullptr;
  }
  thread->slot = slot;
  thread->busy_at = 0;
  thread->counting_stopped = 0;
  thread->unrecorded_count = 0;
  while (thread->top != nullptr) {  // calls that a dead thread never came back from
    ++thread->top->block->abandoned;
    Remove(thread, thread->top);
  }
  const intercept::StackRange stack = intercept::OwnStack(
      tid == process.pid ? process.stack_top : 0, thread->scratch, sizeof thread->scratch);
  thread->stack_begin = stack.begin;
  thread->stack_end = stack.end;
  return thread;
}

ThreadState* ClaimAny(uint32_t tid) {
  for (uint32_t slot = 0; slot < shm::kThreadSlots; ++slot) {
    const uint32_t owner = __atomic_load_n(&process.threads[slot].owner_tid, __ATOMIC_RELAXED);
    const bool dead =
        owner != 0 && (owner == tid || SystemCall(SYS_tgkill, process.pid, owner, 0) == -ESRCH);
    if (owner != 0 && !dead) continue;
    if (ThreadState* thread = Claim(slot, owner, tid)) return thread;
  }
  return nullptr;
}

void CopyText(char* to, const char* from) {
  while (*from != '\0') *to++ = *from++;
}

void Drop(ThreadState* thread, Record* record) {
  ++record->block->abandoned;
  Remove(thread, record);
  record->state = kDropped;
}

// Whether the record's place still holds what it does while its call is in progress: where the
// thunk goes on, or, at the call's beginning and end, the caller's address.
bool IsInPlace(const Record& record) {
  const uint64_t holds = *reinterpret_cast<const uint64_t*>(record.stack_pointer);
  return holds == reinterpret_cast<uint64_t>(intercept::fieldcost_thunk_return) ||
         holds == record.return_address;
}

}  // namespace

void CountLost() { __atomic_fetch_add(&process.header->lost_calls, 1, __ATOMIC_RELAXED); }

__attribute__((cold)) ThreadState* TakeSlot() {
  if (slot_in == 0) {
    // A child of vfork() is here with our memory: a slot taken in its name would be free for others
    // when it ends, but the parent would go on with it.
    if (SystemCall(SYS_getpid) != process.pid) {
      CountLost();
      return nullptr;
    }
    fieldcost_current_thread = ClaimAny(static_cast<uint32_t>(SystemCall(SYS_gettid)));
    if (fieldcost_current_thread != nullptr) return fieldcost_current_thread;
    slot_in = slot_backoff = slot_backoff == 0 ? kFirstBackoff : slot_backoff;
    if (slot_backoff < kLastBackoff) slot_backoff *= 2;
  } else {
    --slot_in;
  }
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
  // Two threads may do this at once, and write the same.
  CopyText(described->module, target.module);
  CopyText(described->symbol, target.symbol);
  CopyText(described->version, target.version);
  if (const intercept::ElfObject* const provider = ProviderOf(target)) {
    described->build_id_bytes = provider->build_id_bytes;
    memcpy(described->build_id, provider->build_id, provider->build_id_bytes);
    intercept::TextBuilder(described->path, sizeof described->path).Add(provider->path);
  }
  uint32_t flags = shm::kLabDescribed;
  if (target.is_allocator != 0) flags |= shm::kLabAllocator;
  if (target.role == shm::kLabNew) flags |= shm::kLabSighted;
  __atomic_store_n(&described->flags, flags, __ATOMIC_RELEASE);
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
    if (__atomic_load_n(&record->state, __ATOMIC_RELAXED) == kReturned) {
      Remove(thread, record);
      continue;
    }
    const uint64_t place = record->stack_pointer;
    if (!IsOnOwnStack(thread, here) || !IsOnOwnStack(thread, place)) return;
    if ((place > here || (place == here && is_tail_call)) && IsInPlace(*record)) return;
    Drop(thread, record);
  }
}

namespace {

// Calls that tail-call each other share a place: each is told from who called it. 0: they are too
// many.
uint64_t FrameIdAt(const ThreadState* thread, uint64_t here) {
  const uint64_t callee = here + sizeof(uint64_t);
  const uint64_t usual = callee + sizeof(uint64_t);
  const Record* const outer = thread->top;
  if (outer == nullptr || outer->stack_pointer != here) return usual;
  return outer->frame_id - 1 > callee ? outer->frame_id - 1 : 0;
}

}  // namespace

Record* Push(ThreadState* thread, uint32_t api, const uint64_t* return_slot, shm::LabBlock* block) {
  uint32_t at = thread->lowest_free;
  while (at < kRecords && thread->records[at].state != kFree) ++at;
  if (at == kRecords && process.never_reuse == 0) {
    for (at = 0; at < kRecords && thread->records[at].state != kDropped; ++at) {
    }
  }
  const auto here = reinterpret_cast<uint64_t>(return_slot);
  const uint64_t frame_id = FrameIdAt(thread, here);
  if (at == kRecords || frame_id == 0) {
    if (at == kRecords) thread->lowest_free = kRecords;
    __atomic_fetch_add(&process.header->lost_records, 1, __ATOMIC_RELAXED);
    return nullptr;
  }
  thread->lowest_free = at + 1;
  Record* const record = &thread->records[at];
  record->target = process.targets[api].address;
  record->return_address = *return_slot;
  record->stack_pointer = here;
  record->frame_id = frame_id;
  record->state = kActive;
  record->api = api;
  record->below = thread->top;
  record->owner = thread;
  record->block = block;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  thread->top = record;
  return record;
}

void Remove(ThreadState* thread, Record* record) {
  Record** link = &thread->top;
  while (*link != record && *link != nullptr) link = &(*link)->below;
  if (*link != nullptr) *link = record->below;
  record->state = kFree;
  const auto index = static_cast<uint32_t>(record - thread->records);
  if (index < thread->lowest_free) thread->lowest_free = index;
}

__attribute__((cold)) void SetFirstPairBit(uint64_t* word, uint64_t bit) {
  // Its page may be there already: that costs a system call, once a pair.
  if (!intercept::Populate(reinterpret_cast<uint64_t>(word), sizeof *word)) return CountLost();
  __atomic_fetch_or(word, bit, __ATOMIC_RELAXED);
}

}  // namespace fieldcost::lab_preload
