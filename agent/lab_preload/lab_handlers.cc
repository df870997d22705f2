// The beginning and end of a call, called by machine_thunk.S inside other programs: no libc calls,
// no vector registers, no locks, no change of errno.
#include <stdint.h>

#include "agent/intercept/block_size.h"
#include "agent/intercept/cycle_clock.h"
#include "agent/intercept/hidden_io.h"
#include "agent/intercept/hooks.h"
#include "agent/intercept/mapped_memory.h"
#include "agent/intercept/notice.h"
#include "agent/intercept/slots.h"
#include "agent/intercept/x86_64/machine.h"
#include "agent/lab_preload/io_meter.h"
#include "agent/lab_preload/lab_thread_state.h"
#include "common/shm/cell_writer.h"
#include "common/shm/log2_fixed.h"

namespace fieldcost::lab_preload {

using intercept::Entry;

namespace {

// During its lifetime, calls by signal handlers on this thread are not measured, since blocks have
// one writer. If a handler jumps out, the mark remains; a call from further up detects that it is
// stale.
class Writing {
 public:
  Writing(ThreadState* thread, uint64_t here) : thread_(thread) {
    const uint64_t busy_at = thread->busy_at;
    is_ours_ = busy_at == 0 || thread->stack.WasLeft(busy_at, here);
    if (!is_ours_) {
      CountLost();
      return;
    }
    thread->busy_at = here;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
  }
  ~Writing() {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (is_ours_) thread_->busy_at = 0;
  }
  Writing(const Writing&) = delete;
  Writing& operator=(const Writing&) = delete;
  bool is_ours() const { return is_ours_; }

 private:
  ThreadState* thread_;
  bool is_ours_;
};

// Returns the reasons (shm::NotMeasured) why bytes of this call of the target are not measured.
uint32_t HiddenBy(const Target& target, const uint64_t* return_slot) {
  return target.hidden == kHiddenByArgument
             ? intercept::HiddenBySystemCall(intercept::ArgumentAt(return_slot, 0))
             : uint32_t{target.hidden};
}

uint32_t TakeFirstCall(Target* target) {
  if (__builtin_expect(__atomic_load_n(&target->first_taken, __ATOMIC_RELAXED) != 0, 1)) return 0;
  return __atomic_exchange_n(&target->first_taken, 1, __ATOMIC_RELAXED) == 0 ? 1 : 0;
}

uint32_t FindOrMakeChild(ThreadState* thread, uint32_t parent, uint32_t api) {
  shm::LabNode* const nodes = NodesOf(thread->slot);
  uint32_t at = (parent * 0x9e3779b1U + api * 0x85ebca6bU) % kNodeTable;
  for (; thread->node_table[at] != 0; at = (at + 1) % kNodeTable) {
    const uint32_t node = thread->node_table[at];
    if (nodes[node].parent == parent && nodes[node].api == api) return node;
  }
  constexpr uint32_t kNodesOfAPage = intercept::kPageBytes / sizeof(shm::LabNode);
  const uint32_t made = thread->node_count + 1;  // 0 is the root
  const bool is_on_new_page = made == 1 || made % kNodesOfAPage == 0;
  const bool is_room =
      made < shm::kLabNodes &&
      (!is_on_new_page ||
       intercept::Populate(reinterpret_cast<uint64_t>(&nodes[made]), sizeof nodes[made]));
  if (!is_room) {
    __atomic_fetch_add(&process.header->lost_nodes, 1, __ATOMIC_RELAXED);
    return parent;
  }
  nodes[made].parent = parent;
  nodes[made].api = api;
  thread->node_table[at] = static_cast<uint16_t>(made);
  thread->node_count = made;
  process.header->node_counts[thread->slot] = made + 1;
  return made;
}

// Returns the node's child for this API; the node itself if there is no room for more.
uint32_t ChildOf(ThreadState* thread, uint32_t parent, uint32_t api) {
  Known& known = thread->apis[api];
  if (known.last_node == 0 || known.last_parent != parent) {
    const uint32_t child = FindOrMakeChild(thread, parent, api);
    if (child == parent) return parent;
    known.last_parent = parent;
    known.last_node = child;
  }
  return known.last_node;
}

// Returns whether the arguments of the API's n-th call are counted. One call in 16 is chosen using
// the golden ratio, which is out of step with any period of a program.
bool AreArgumentsCounted(uint64_t n) {
  return n <= shm::kLabAllArguments || (n * 0x9e3779b97f4a7c15U) >> 60 == 0;
}

// Adds an API that counts as on the stack until the outermost call returns, since no record shows
// its end.
void AddUnrecorded(ThreadState* thread, uint32_t api) {
  for (uint32_t i = 0; i < thread->unrecorded_count; ++i) {
    if (thread->unrecorded[i] == api) return;
  }
  if (thread->unrecorded_count == kMaxUnrecorded) return CountLost();
  thread->unrecorded[thread->unrecorded_count++] = static_cast<uint16_t>(api);
}

// Sets the pairs of the APIs on the stack with this one. Returns whether it is itself among them.
bool SetPairs(ThreadState* thread, uint32_t api) {
  bool is_inner = false;
  for (const Record* outer = thread->top; outer != nullptr; outer = outer->below) {
    SetPair(outer->thunk, api);
    is_inner |= outer->thunk == api;
  }
  for (uint32_t i = 0; i < thread->unrecorded_count; ++i) SetPair(thread->unrecorded[i], api);
  return is_inner;
}

Record* BeginMapped(ThreadState* thread, uint32_t api, const uint64_t* return_slot,
                    shm::LabBlock* block) {
  auto* const mapped = reinterpret_cast<shm::LabMapBlock*>(block);
  ++block->calls;
  if (AreArgumentsCounted(block->calls)) {
    for (uint32_t i = 0; i < shm::kLabArguments; ++i) {
      ++mapped->arguments[i][shm::SlotOf(intercept::ArgumentAt(return_slot, i))];
    }
  }
  const bool is_inner = SetPairs(thread, api);
  if (const Target& target = process.targets[api]; target.hidden != 0) {
    NotMeasured(thread, api, HiddenBy(target, return_slot));
  }
  const uint32_t parent = thread->top == nullptr ? 0 : thread->top->node;
  const uint32_t node = ChildOf(thread, parent, api);
  if (node != 0) ++NodesOf(thread->slot)[node].calls;
  Record* const record = Push(thread, api, return_slot, block);
  if (record == nullptr) {
    ++block->nested;
    AddUnrecorded(thread, api);
    return nullptr;
  }
  record->node = node;
  record->is_inner = is_inner ? 1 : 0;
  record->allocated = thread->allocated;
  record->live = thread->live;
  record->exclusive = 0;
  record->exclusive_of_inner = 0;
  for (uint32_t i = 0; i < shm::kLabIoMetrics; ++i) record->io[i] = thread->io[i];
  return record;
}

Record* BeginTimed(ThreadState* thread, uint32_t api, const uint64_t* return_slot,
                   shm::LabBlock* block) {
  ++block->calls;
  SetPairs(thread, api);
  Record* const record = thread->top != nullptr ? nullptr : Push(thread, api, return_slot, block);
  if (record == nullptr) {
    ++block->nested;
    return nullptr;
  }
  const uint32_t argument = process.targets[api].argument;
  record->argument =
      argument < shm::kLabArguments ? intercept::ArgumentAt(return_slot, argument) : 0;
  return record;
}

void AddLive(int64_t bytes, shm::LabLive* live) {
  live->bytes += bytes;
  const uint64_t calls = ++live->calls;
  if ((calls & (calls - 1)) != 0) return;
  const auto mark = static_cast<uint32_t>(__builtin_ctzll(calls));
  if (mark < shm::kLabLiveMarks) live->bytes_at[mark] = live->bytes;
}

void EndMapped(ThreadState* thread, const Record& record) {
  if (record.node != 0) NodesOf(thread->slot)[record.node].bytes += record.exclusive;
  auto* const block = reinterpret_cast<shm::LabMapBlock*>(record.block);
  if (record.is_inner != 0) {
    ++block->head.nested;
    for (Record* outer = record.below; outer != nullptr; outer = outer->below) {
      if (outer->thunk != record.thunk) continue;
      outer->exclusive_of_inner += record.exclusive + record.exclusive_of_inner;
      return;
    }
    return;
  }
  const uint64_t inclusive = thread->allocated - record.allocated;
  if (inclusive == 0) {
    ++block->without_bytes;
  } else {
    shm::AddToCell(&block->inclusive, inclusive, 0);
    shm::AddToCell(&block->exclusive, record.exclusive + record.exclusive_of_inner, 0);
  }
  if (record.is_first != 0) ApiOf(record.thunk)->first_call_bytes = inclusive + 1;
  AddLive(thread->live - record.live, &block->live);
  AddIo(thread, record);
}

void AddLog(shm::LabLogSums* sums, uint64_t log) {
  ++sums->count;
  sums->sum += log;
  sums->sum_squares += log * log;
}

void EndTimed(const Record& record, uint64_t end_ticks) {
  uint64_t ticks = end_ticks - record.start_ticks;
  ticks = ticks > process.bias_ticks ? ticks - process.bias_ticks : 0;
  const uint64_t ns = intercept::NanosecondsOf(ticks, process.ticks_to_ns);
  auto* const block = reinterpret_cast<shm::LabTimeBlock*>(record.block);
  shm::AddToCell(&block->time, ns, 0);
  shm::AddToCell(&block->cycles, ticks, 0);
  const uint64_t log = shm::Log2Times256(ns);
  AddLog(&block->all, log);
  AddLog(&block->by_argument[shm::SlotOf(record.argument)], log);
  if (record.is_first != 0) ApiOf(record.thunk)->first_call_ns = ns + 1;
}

// Returns the thread if a call is in progress on it, and no handler of ours;
// else null.
ThreadState* CountingThread() {
  ThreadState* const thread = fieldcost_current_thread;
  if (thread == nullptr || !IsAttached()) return nullptr;
  return thread->top == nullptr || thread->busy_at != 0 ? nullptr : thread;
}

}  // namespace

extern "C" __attribute__((visibility("hidden"))) Entry fieldcost_thunk_enter(
    uint32_t what, const uint64_t* return_slot) {
  if ((what & intercept::kNoticeFlag) != 0) {
    return intercept::EnterNotice(what, return_slot, IsAttached());
  }
  Target& target = process.targets[what];
  const Entry straight = {nullptr, target.address};
  if (!IsAttached()) return straight;
  if (target.role == shm::kLabNew) {
    Describe(what);
    return straight;
  }
  ThreadState* const thread = CurrentThread();
  if (thread == nullptr) return straight;
  const auto here = reinterpret_cast<uint64_t>(return_slot);
  const Writing writing(thread, here);
  if (!writing.is_ours()) return straight;
  if (target.role == shm::kLabHides) {
    DropGone(thread, here, intercept::IsTailCall(return_slot));
    NotMeasured(thread, intercept::kNoThunk, HiddenBy(target, return_slot));
    return straight;
  }
  shm::LabBlock* const block = BlockOf(thread, what);
  if (block == nullptr) return straight;
  DropGone(thread, here, intercept::IsTailCall(return_slot));
  if (thread->top == nullptr) thread->unrecorded_count = 0;
  Record* const record = process.mode == shm::kLabMap
                             ? BeginMapped(thread, what, return_slot, block)
                             : BeginTimed(thread, what, return_slot, block);
  if (record == nullptr) return straight;
  record->is_first = TakeFirstCall(&target);
  return {record, record->target};
}

// `end_ticks` is 0 if the process was detached when the function returned.
extern "C" __attribute__((visibility("hidden"))) void fieldcost_thunk_exit(Record* record,
                                                                           uint64_t end_ticks) {
  ThreadState* const thread = record->owner;
  if (thread != fieldcost_current_thread) {
    if (IsAttached()) __atomic_fetch_add(&process.header->moved_calls, 1, __ATOMIC_RELAXED);
    return __atomic_store_n(&record->state, intercept::kReturned, __ATOMIC_RELEASE);
  }
  const bool is_attached = end_ticks != 0 && IsAttached();
  if (!is_attached || record->state != intercept::kActive) return Remove(thread, record);
  const Writing writing(thread, record->stack_pointer);
  if (!writing.is_ours()) return Remove(thread, record);
  // Calls made by it that are still on the chain never returned.
  if (thread->top != record) DropGone(thread, record->stack_pointer, true);
  if (process.mode == shm::kLabMap) {
    EndMapped(thread, *record);
  } else {
    EndTimed(*record, end_ticks);
  }
  Remove(thread, record);
  if (thread->top == nullptr) thread->unrecorded_count = 0;
}

}  // namespace fieldcost::lab_preload

namespace fieldcost::intercept {

using lab_preload::process;
using lab_preload::Record;
using lab_preload::ThreadState;

// Attributes the bytes to every API on the stack, and as exclusive bytes to the
// innermost API that is not in the malloc family. `caller` is not needed: every
// call through a slot has a record.
void OnAllocation(const void* block, size_t bytes, uint64_t) {
  ThreadState* const thread = lab_preload::CountingThread();
  if (thread == nullptr || thread->counting_stopped != 0) return;
  const auto here = reinterpret_cast<uint64_t>(__builtin_frame_address(0));
  const lab_preload::Writing writing(thread, here);
  lab_preload::DropGone(thread, here, false);
  thread->allocated += bytes;
  if (KnowsBlockSizes()) thread->live += static_cast<int64_t>(KnownBlockSize(block));
  bool is_told = false;
  for (Record* record = thread->top; record != nullptr; record = record->below) {
    const bool is_allocator = process.targets[record->thunk].is_allocator != 0;
    if (!is_told && (!is_allocator || record->below == nullptr)) {
      record->exclusive += bytes;
      is_told = true;
    }
    if (record->is_inner != 0) continue;
    shm::AddToCell(&reinterpret_cast<shm::LabMapBlock*>(record->block)->sizes, bytes, 0);
  }
}

size_t SizeOfBlock(const void* block) {
  return KnowsBlockSizes() && lab_preload::CountingThread() != nullptr ? KnownBlockSize(block) : 0;
}

// The calls on the stack that have been left are dropped by the next call or
// allocation: their bytes are not recorded.
void OnFree(size_t bytes) {
  ThreadState* const thread = lab_preload::CountingThread();
  if (thread != nullptr) thread->live -= static_cast<int64_t>(bytes);
}

bool StopCountingAllocations() {
  ThreadState* const thread = lab_preload::fieldcost_current_thread;
  if (thread == nullptr || thread->counting_stopped != 0) return false;
  thread->counting_stopped = 1;
  return true;
}

void CountAllocationsAgain() {
  ThreadState* const thread = lab_preload::fieldcost_current_thread;
  if (thread != nullptr) thread->counting_stopped = 0;
}

}  // namespace fieldcost::intercept
