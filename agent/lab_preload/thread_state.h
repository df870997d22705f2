#pragma once

// A thread's calls in progress: the APIs on its stack. Runs inside handlers: no libc call, no
// vector register, no lock.

#include <stddef.h>
#include <stdint.h>

#include "agent/intercept/call_records.h"
#include "agent/intercept/mappings.h"
#include "agent/lab_preload/process.h"

namespace fieldcost::lab_preload {

inline constexpr uint32_t kRecords = 512;       // of a thread
inline constexpr uint32_t kMaxUnrecorded = 64;  // APIs that are on the stack without a record
inline constexpr uint32_t kNodeTable = 2 * shm::kLabNodes;

struct Record {
  uint64_t return_address;
  uint64_t saved_rbx;
  uint64_t target;
  uint64_t stack_pointer;  // address of the stack slot that held the return address
  uint64_t start_ticks;
  uint64_t frame_id;  // what unwinders tell its frame from others by: right above its place
  uint32_t state;     // intercept::RecordState
  uint32_t api;
  Record* below;  // the call that this one was made in, or null
  ThreadState* owner;
  shm::LabBlock* block;
  uint64_t allocated;               // by the thread when it began
  uint64_t exclusive;               // by itself
  uint64_t exclusive_of_inner;      // by inner calls of its own recursion
  uint64_t argument;                // the chosen one's value
  uint64_t io[shm::kLabIoMetrics];  // moved by the thread when it began
  uint32_t node;
  uint32_t is_inner;  // of a recursion
  uint32_t is_first;  // call of the process
};

// An API, as one thread knows it.
struct Known {
  shm::LabBlock* block;  // null: not yet called
  uint32_t last_parent;  // where in the tree it was called last, and
  uint32_t last_node;    // its node there; 0: none
};

// One thread's slot, in private memory. Slots outlive their thread and are taken over by a later
// one.
struct ThreadState {
  Record* top;       // innermost call in progress, or null
  uint64_t busy_at;  // where the call is whose beginning or end is being written down; 0: none
  uint64_t allocated;
  uint64_t io[shm::kLabIoMetrics];  // bytes moved, in LabIoBlock's order
  intercept::StackRange stack;      // its own
  uint32_t counting_stopped;        // of allocations
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

// Takes a slot for this thread. Null (and counted as lost) if none is left.
ThreadState* TakeSlot();
inline ThreadState* CurrentThread() {
  ThreadState* const thread = fieldcost_current_thread;
  return __builtin_expect(thread != nullptr, 1) ? thread : TakeSlot();
}

void CountLost();

// The thread's block of that API, made and described if it is the first call. Null (and counted as
// lost) if there is no room.
shm::LabBlock* MakeBlock(ThreadState* thread, uint32_t api);
inline shm::LabBlock* BlockOf(ThreadState* thread, uint32_t api) {
  shm::LabBlock* const block = thread->apis[api].block;
  return __builtin_expect(block != nullptr, 1) ? block : MakeBlock(thread, api);
}

// Puts the API into the lab file, once. False if there is no room.
bool Describe(uint32_t api);

// Takes calls off the chain of which it is certain that they never return: on the thread's own
// stack all whose frame is below `here`, or at it unless the call there is tail-called by them, and
// those above whose place holds something else. Those on other stacks stay: frames there may be
// alive wherever they lie.
void DropGone(ThreadState* thread, uint64_t here, bool is_tail_call);

// A record on top of the chain; null (and counted) if there is none. A signal handler may leave for
// good at any instruction: what is on the chain can be dropped.
Record* Push(ThreadState* thread, uint32_t api, const uint64_t* return_slot, shm::LabBlock* block);

// Takes a call off the chain, wherever it is.
void Remove(ThreadState* thread, Record* record);

// Says that `inner` was entered while `outer` had not returned.
void SetFirstPairBit(uint64_t* word, uint64_t bit);
inline void SetPair(uint32_t outer, uint32_t inner) {
  uint64_t* const word = PairRowOf(outer) + inner / 64;
  const uint64_t bit = uint64_t{1} << (inner % 64);
  if (__builtin_expect((__atomic_load_n(word, __ATOMIC_RELAXED) & bit) == 0, 0)) {
    SetFirstPairBit(word, bit);
  }
}

// What the thunk knows of it.
static_assert(offsetof(Record, return_address) == FIELDCOST_RECORD_RETURN_ADDRESS);
static_assert(offsetof(Record, saved_rbx) == FIELDCOST_RECORD_SAVED_RBX);
static_assert(offsetof(Record, target) == FIELDCOST_RECORD_TARGET);
static_assert(offsetof(Record, start_ticks) == FIELDCOST_RECORD_START_TICKS);
static_assert(offsetof(Record, frame_id) == FIELDCOST_RECORD_FRAME_ID);

}  // namespace fieldcost::lab_preload
