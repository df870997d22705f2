#pragma once

// A thread's calls in progress: the APIs on its stack. Runs inside handlers: no libc calls, no
// vector registers, no locks.

#include <stddef.h>
#include <stdint.h>

#include "agent/intercept/call_records.h"
#include "agent/intercept/mappings.h"
#include "agent/lab_preload/lab_process.h"

namespace fieldcost::lab_preload {

inline constexpr uint32_t kRecords = 512;       // per thread
inline constexpr uint32_t kMaxUnrecorded = 64;  // APIs that are on the stack without a record
inline constexpr uint32_t kNodeTable = 2 * shm::kLabNodes;

struct Record : intercept::CallRecord<ThreadState> {
  Record* below;  // the calling API's record, or null
  shm::LabBlock* block;
  uint64_t allocated;               // by the thread before the call
  int64_t live;                     // left allocated by the thread before the call
  uint64_t exclusive;               // allocated by the call itself
  uint64_t exclusive_of_inner;      // by inner calls of its own recursion
  uint64_t argument;                // value of the chosen argument
  uint64_t io[shm::kLabIoMetrics];  // bytes transferred by the thread before the call
  uint32_t node;
  uint32_t is_inner;  // inner call of a recursion
  uint32_t is_first;  // the process's first call
};

// One thread's state of an API.
struct Known {
  shm::LabBlock* block;  // null: not yet called
  uint32_t last_parent;  // the parent of its latest call in the tree
  uint32_t last_node;    // its node there; 0: none
};

// One thread's slot, in private memory. Slots outlive their thread and are reused by a later one.
struct ThreadState {
  Record* top;       // innermost call in progress, or null
  uint64_t busy_at;  // place of the call whose beginning or end is being recorded; 0: none
  uint64_t allocated;
  int64_t live;                     // bytes allocated minus bytes freed (shm::LabLive)
  uint64_t io[shm::kLabIoMetrics];  // bytes transferred, in LabIoBlock's order
  intercept::StackRange stack;      // the thread's own
  uint32_t counting_stopped;        // for allocations
  uint32_t slot;
  uint32_t owner_tid;  // 0 = never used; a dead thread's id = free
  uint32_t lowest_free;
  uint32_t node_count;
  uint32_t unrecorded_count;
  uint16_t unrecorded[kMaxUnrecorded];
  Record records[kRecords];
  Known apis[intercept::kThunkCount];
  uint16_t node_table[kNodeTable];  // open addressing by parent and API; 0: none
  char scratch[4096];               // for reading /proc/self/maps
};
static_assert(intercept::kThunkCount <= 65536 && shm::kLabNodes <= 65536);

extern "C" __attribute__((visibility("hidden"))) __thread ThreadState* fieldcost_current_thread;

// Takes a slot for this thread. Returns null (and counts a lost call) if none is left.
ThreadState* TakeSlot();
inline ThreadState* CurrentThread() {
  ThreadState* const thread = fieldcost_current_thread;
  return __builtin_expect(thread != nullptr, 1) ? thread : TakeSlot();
}

void CountLost();

// Returns the thread's block of that API, which is created and described at the first call. Returns
// null (and counts a lost call) if there is no room.
shm::LabBlock* MakeBlock(ThreadState* thread, uint32_t api);
inline shm::LabBlock* BlockOf(ThreadState* thread, uint32_t api) {
  shm::LabBlock* const block = thread->apis[api].block;
  return __builtin_expect(block != nullptr, 1) ? block : MakeBlock(thread, api);
}

// Adds the API to the lab file, once. Returns false if there is no room.
bool Describe(uint32_t api);

// Removes calls from the chain that certainly never return: on the thread's own stack, those whose
// frame is below `here` (or at `here`, unless they tail-called the call there), and those above
// whose place has another value. Calls on other stacks stay: frames there may be alive at any
// address.
void DropGone(ThreadState* thread, uint64_t here, bool is_tail_call);

// Pushes a record onto the chain. Returns null (and counts it) if none is free. A signal handler
// may jump out at any instruction: every record on the chain must be valid for DropGone().
Record* Push(ThreadState* thread, uint32_t api, const uint64_t* return_slot, shm::LabBlock* block);

// Removes a call from any position of the chain.
void Remove(ThreadState* thread, Record* record);

// Records that `inner` was entered before `outer` returned.
void SetFirstPairBit(uint64_t* word, uint64_t bit);
inline void SetPair(uint32_t outer, uint32_t inner) {
  uint64_t* const word = PairRowOf(outer) + inner / 64;
  const uint64_t bit = uint64_t{1} << (inner % 64);
  if (__builtin_expect((__atomic_load_n(word, __ATOMIC_RELAXED) & bit) == 0, 0)) {
    SetFirstPairBit(word, bit);
  }
}

}  // namespace fieldcost::lab_preload
