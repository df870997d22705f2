#include "agent/probe_preload/probe_calls.h"

namespace fieldcost::probe_preload {
namespace {

constexpr uint32_t kMostSearched = 4096;

void Leave(ThreadState* thread) {
  Record* const record = thread->innermost;
  thread->innermost = record->outer;
  record->state = record->state == intercept::kReturned ? intercept::kFree : intercept::kDropped;
}

// Returns whether the innermost call is certainly over. `here` is the location of the current
// call's return address: on the thread's own stack, a call that is over lies below it. A
// tail-called function has its caller's place.
bool IsGone(const ThreadState* thread, uint64_t here, bool is_tail_call) {
  const Record* const record = thread->innermost;
  if (__atomic_load_n(&record->state, __ATOMIC_ACQUIRE) == intercept::kReturned) return true;
  if (!thread->stack.Holds(here) || !thread->stack.Holds(record->stack_pointer)) return false;
  return record->stack_pointer < here || (record->stack_pointer == here && !is_tail_call);
}

bool IsInProgress(const ThreadState* thread, const Record* record) {
  const Record* call = thread->innermost;
  for (uint32_t i = 0; i < kMostSearched && call != nullptr; ++i, call = call->outer) {
    if (call == record) return true;
  }
  return false;
}

}  // namespace

Record* BeginCall(ThreadState* thread, uint32_t what, const uint64_t* return_slot) {
  const auto here = reinterpret_cast<uint64_t>(return_slot);
  const bool is_tail_call = intercept::IsTailCall(return_slot);
  while (thread->innermost != nullptr && IsGone(thread, here, is_tail_call)) Leave(thread);
  Record* const record = intercept::BeginRecord(thread, kRecords, thread->innermost, what,
                                                process.targets[what].address, return_slot);
  if (record == nullptr) return nullptr;
  record->outer = thread->innermost;
  record->state = intercept::kActive;
  thread->innermost = record;
  return record;
}

void EndCall(ThreadState* thread, Record* record) {
  if (IsInProgress(thread, record)) {
    while (thread->innermost != record) Leave(thread);
    thread->innermost = record->outer;
  }
  intercept::FreeRecord(thread, record);
}

void LeaveAll(ThreadState* thread) {
  while (thread->innermost != nullptr) Leave(thread);
}

}  // namespace fieldcost::probe_preload
