// The beginning and end of a measured call, called by machine_thunk.S inside the program: no libc
// call, no vector register, no lock, no errno.
#include <stdint.h>

#include "agent/intercept/cycle_clock.h"
#include "agent/intercept/hidden_io.h"
#include "agent/intercept/notice.h"
#include "agent/preload/measuring.h"
#include "agent/preload/measuring_run.h"
#include "agent/preload/overhead.h"
#include "agent/preload/sightings.h"

namespace fieldcost::preload {

using intercept::Entry;
using intercept::IsTailCall;
using intercept::kSampledFlag;

namespace {

// Returns true if this call is made from inside the measured call `outer`. A frame further down the
// stack is inside; so is one at the same place if it was tail-called (its return address is the
// thunk's). A frame further up means that `outer` was left by longjmp or an exception, or is on
// another stack.
bool IsNested(const Record* outer, const uint64_t* return_slot) {
  const auto here = reinterpret_cast<uint64_t>(return_slot);
  if (outer->stack_pointer > here) return true;
  return outer->stack_pointer == here && IsTailCall(return_slot);
}

// Returns true if the thread has left `active`, even though it lies further up (or is busy): its
// stack slot no longer holds the value that it has during the call. Checks only the thread's own
// stack: other stacks may be gone. May be wrong in the middle of an entry, which is harmless: a
// superseded call that returns after all is counted.
bool IsGone(const ThreadState* thread, Record* active, uint64_t here) {
  const Record* const record = RecordOf(active);
  const uint64_t place = record->stack_pointer;
  if (!thread->stack.Holds(here)) return false;
  if (!thread->stack.Holds(place)) return false;
  if (place <= here) return IsBusy(active);
  const uint64_t holds = *reinterpret_cast<const uint64_t*>(place);
  if (holds == intercept::ThunkReturn()) return false;
  return !IsBusy(active) || holds != record->return_address;
}

// Returns 1 for the first call of this pick in the process, else 0.
inline uint32_t TakeFirstCall(PickState* pick) {
  if (FIELDCOST_LIKELY(__atomic_load_n(&pick->first_taken, __ATOMIC_RELAXED) != 0)) return 0;
  return __atomic_exchange_n(&pick->first_taken, 1, __ATOMIC_RELAXED) == 0 ? 1 : 0;
}

// Fills a record that was just taken and makes it the thread's active one. The thunk adds
// the time stamp.
inline void Begin(ThreadState* thread, Record* record, uint32_t what, uint32_t weight_log2,
                  const uint64_t* return_slot, shm::Cell* cells) {
  PickState& state = process.picks[what & ~kSampledFlag];
  record->target = state.target;
  record->stack_pointer = reinterpret_cast<uint64_t>(return_slot);
  record->cells = cells;
  record->what = what;
  record->weight_log2 = weight_log2;
  record->is_first = TakeFirstCall(&state);
  // The first call of a sampled thread has another weight than its next ones.
  const bool same_weight =
      !IsSampled(*record) || weight_log2 == thread->gap_log2[what & ~kSampledFlag];
  const bool usual = process.metrics == shm::kTimeMetrics && record->is_first == 0 && same_weight;
  record->usual = usual ? what : kNoPick;
  record->superseded = 0;
  record->excluded_ticks = 0;
  record->allocated_inclusive = thread->allocated_inclusive;
  record->allocated_exclusive = thread->allocated_exclusive;
  for (int i = 0; i < 4; ++i) record->io[i] = thread->io[i];
  intercept::fieldcost_hidden_io = 0;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  thread->active = record;
}

// The duration of the recorded call, minus `excluded` ticks.
inline uint64_t TicksWithout(uint64_t excluded, const Record& record, uint64_t end_ticks) {
  const uint64_t ticks = end_ticks - record.start_ticks;
  return ticks > excluded ? ticks - excluded : 0;
}

inline uint64_t Nanoseconds(uint64_t ticks) {
  return intercept::NanosecondsOf(ticks, process.ticks_to_ns);
}

void RecordAll(const Record& record, const ThreadState* thread, uint64_t end_ticks,
               shm::Cell* cells) {
  const uint64_t ticks =
      TicksWithout(process.bias_ticks + record.excluded_ticks, record, end_ticks);
  const uint32_t weight = record.weight_log2;
  if ((process.metrics & shm::kTimeMetrics) != 0) {
    const uint64_t nanoseconds = Nanoseconds(ticks);
    AddToCell(cells, nanoseconds, weight);
    if (record.is_first != 0) process.picks[PickOf(record)].shared->first_call_ns = nanoseconds + 1;
  }
  if ((process.metrics & shm::kCycleMetrics) != 0)
    AddToCell(cells + process.cycles_index, ticks, weight);
  // Counters belong to a thread: for a call that returned on another thread, there is no difference
  // to take.
  if (record.owner != thread) return;
  if ((process.metrics & shm::kAllocMetrics) != 0) {
    shm::Cell* const inclusive = cells + process.alloc_index;
    AddToCell(inclusive, thread->allocated_inclusive - record.allocated_inclusive, weight);
    AddToCell(inclusive + 1, thread->allocated_exclusive - record.allocated_exclusive, weight);
  }
  if ((process.metrics & shm::kIoMetrics) != 0) {
    for (int i = 0; i < 4; ++i) {
      AddToCell(cells + process.io_index + i, thread->io[i] - record.io[i], weight);
    }
    AddNotMeasured(process.picks[PickOf(record)].shared, intercept::fieldcost_hidden_io);
  }
}

// An untimed call has a cost as well: it is charged like a timed one, which is an upper bound.
inline Entry Charged(ThreadState* thread, uint32_t pick, const Entry& straight) {
  if (--thread->check_in == 0) SettleCost(thread, pick);
  return straight;
}

// Handles everything except timed calls that return on the thread where they began: other metrics,
// first calls, fibres that moved to another thread, records thought abandoned, and children of
// fork().
__attribute__((noinline)) void ExitUnusual(Record* record, uint64_t end_ticks) {
  const bool attached = end_ticks != 0 && IsAttached();
  ThreadState* const thread = attached ? CurrentThread() : nullptr;
  const uint32_t pick = PickOf(*record);
  const bool is_sampled = IsSampled(*record);
  shm::Cell* const cells = thread == nullptr ? nullptr : CellsOf(thread, pick);
  if (cells != nullptr) {
    Record* const active = thread->active;
    const NoMeasuring guard(thread, record, RecordOf(active) == record ? nullptr : active);
    RecordAll(*record, thread, end_ticks, cells);
    if (record->superseded != 0) {
      if (cells->abandoned > 0) --cells->abandoned;
    } else if (is_sampled) {
      ++cells->sampled;
    }
    ThreadState* const owner = record->owner;
    if (owner != thread) {
      if (owner->active == record) owner->active = nullptr;
      record->usual =
          kNoPick;  // the owner's next call is timed with certainty: no gap was drawn there
    }
  }
  record->superseded = 0;
  record->stack_pointer = 0;  // while free, and until filled, it has no location
  __atomic_store_n(&record->in_use, 0, __ATOMIC_RELEASE);
  if (cells == nullptr) return;
  if (is_sampled && fieldcost_counters != no_counters) DrawGap(thread, pick);
  if (--thread->check_in == 0) SettleCost(thread, pick);
  if (end_ticks >= process.look_at) EndPhaseAndRedraw(end_ticks);
}

// Handles the first call of a watched function. Returns the argument that its stub would pass if it
// had been picked before; kNoPick if the call is not measured. The time spent here is excluded from
// the enclosing measured call.
__attribute__((cold, noinline)) uint32_t Sight(uint32_t thunk) {
  const uint64_t begin = intercept::ReadTimeStamp();
  const uint32_t pick = SeeFirstCall(thunk);
  ThreadState* const thread = fieldcost_current_thread;
  Record* const active = thread == nullptr ? nullptr : thread->active;
  if (active != nullptr && !IsBusy(active)) {
    if (process.picks[PickOf(*active)].phase != shm::kPickActive) {
      Abandon(thread, active);  // it gave up its place; the abandonment is reverted if it returns
    } else {
      active->excluded_ticks += intercept::ReadTimeStamp() - begin;
      active->usual = kNoPick;  // so that its end does not take the fast path
    }
  }
  if (pick == kNoPick || process.picks[pick].sampling_log2 == 0) return pick;
  // As the sampling stub does.
  if (fieldcost_counters != nullptr && fieldcost_counters != no_counters) {
    fieldcost_counters[pick] -= uint64_t{1} << 48;
  }
  return pick | kSampledFlag;
}

}  // namespace

// Handles all cases except the usual one, which the thunk handles itself: a thread's or a cell's
// first call, nested calls, calls after one that was left by longjmp or an exception, calls of a
// sampled pick whose gap has run out, and functions that are only noticed.
extern "C" __attribute__((visibility("hidden"))) Entry fieldcost_thunk_enter(
    uint32_t what, const uint64_t* return_slot) {
  if ((what & intercept::kNoticeFlag) != 0) {
    return intercept::EnterNotice(what, return_slot, IsAttached());
  }
  const Entry straight = {nullptr, process.picks[what & ~kSampledFlag].target};
  if (!IsAttached()) return straight;
  if (process.is_watching != 0 && what - kFirstWatchThunk < shm::kMaxWatched) {
    what = Sight(what);
    if (what == kNoPick) return straight;
  }
  const uint32_t pick = what & ~kSampledFlag;
  const bool is_sampled = pick != what;
  ThreadState* const thread = CurrentThread();
  if (thread == nullptr) {
    if (is_sampled) no_counters[pick] = 0;  // its next call is also lost and counted
    return straight;
  }
  uint32_t weight_log2 = 0;
  if (is_sampled && !EndGap(thread, pick, &weight_log2)) return straight;
  shm::Cell* const cells = CellsOf(thread, pick);
  if (cells == nullptr) return Charged(thread, pick, straight);
  const auto here = reinterpret_cast<uint64_t>(return_slot);
  if (Record* const active = thread->active) {
    Record* const outer = RecordOf(active);
    if ((IsBusy(active) || IsNested(outer, return_slot)) && !IsGone(thread, active, here)) {
      ++cells->nested;
      if (is_sampled) ++cells->sampled;
      return Charged(thread, pick, straight);
    }
    Abandon(thread, outer);
  }
  // An earlier call with the same stack slot is gone, unless it tail-called this one.
  Record* const record = TakeRecord(thread, IsTailCall(return_slot) ? here : here + 1);
  if (record == nullptr) return Charged(thread, pick, straight);
  Begin(thread, record, what, weight_log2, return_slot, cells);
  return {record, record->target};
}

// `end_ticks` is 0 if the process had been detached when the function returned.
extern "C" __attribute__((visibility("hidden"))) void fieldcost_thunk_exit(Record* record,
                                                                           uint64_t end_ticks) {
  ThreadState* const thread = record->owner;
  if (!FIELDCOST_LIKELY(end_ticks != 0 && thread == fieldcost_current_thread &&
                        thread->active == record && record->usual == record->what)) {
    return ExitUnusual(record, end_ticks);
  }
  thread->active = Busy(record);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  AddToCell(record->cells, Nanoseconds(TicksWithout(process.bias_ticks, *record, end_ticks)),
            record->weight_log2);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  // The order matters: an active record without a location would never be detected as gone.
  thread->active = nullptr;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  record->stack_pointer = 0;
  const uint32_t what = record->what;
  if (what >= kSampledFlag) {
    ++record->cells->sampled;
    DrawGap(thread, what & ~kSampledFlag);
  }
  __atomic_store_n(&record->in_use, 0, __ATOMIC_RELEASE);
  if (FIELDCOST_LIKELY(--thread->check_in != 0)) return;
  SettleCost(thread, what & ~kSampledFlag);
  if (end_ticks >= process.look_at) EndPhaseAndRedraw(end_ticks);
}

}  // namespace fieldcost::preload
