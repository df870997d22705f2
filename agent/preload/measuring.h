#pragma once

// What a measured call writes, inline; its rare parts are in thread_state.h. Runs inside handlers:
// no libc call, no vector register, no lock.

#include <stdint.h>

#include "agent/preload/thread_state.h"
#include "common/shm/run_file.h"

namespace fieldcost::preload {

// Adds one value that stands for 2^weight_log2 to a cell, in a way that a kill at any instruction
// leaves repairable: see common/shm/run_file.h. Plain stores in this order are seen in this order,
// since x86 keeps stores ordered; the fences hold the compiler.
inline void AddToCell(shm::Cell* cell, uint64_t value, uint32_t weight_log2) {
  __extension__ using Wide = unsigned __int128;
  if (__builtin_expect(cell->staged_slot != 0, 0)) {
    // The last update was left half way, by a signal handler that jumped out of it.
    cell->buckets[cell->staged_slot - 1] = cell->staged;
    cell->untimed = cell->staged_untimed;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    auto* const whole = reinterpret_cast<uint64_t*>(&cell->sequence);
    __atomic_store_n(whole, uint64_t{cell->sequence + 1}, __ATOMIC_RELEASE);
  }
  const unsigned slot = shm::SlotOf(value);
  shm::RunBucket* const bucket = &cell->buckets[slot];
  while (__builtin_expect(weight_log2 != 0 && value > shm::kMaxWeightedValue >> weight_log2, 0)) {
    --weight_log2;
  }
  const uint64_t weight = uint64_t{1} << weight_log2;
  const uint64_t weighted = value << weight_log2;
  const Wide squares =
      ((Wide{bucket->sumsq_high} << 64) | bucket->sumsq_low) + Wide{weighted} * value;
  cell->staged = {bucket->count + weight, bucket->sum + weighted, static_cast<uint64_t>(squares),
                  static_cast<uint64_t>(squares >> 64)};
  cell->staged_untimed = cell->untimed + weight - 1;
  // `sequence` and `staged_slot` change together.
  auto* const state = reinterpret_cast<uint64_t*>(&cell->sequence);
  const uint32_t sequence = cell->sequence + 1;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  __atomic_store_n(state, (uint64_t{slot + 1} << 32) | sequence, __ATOMIC_RELEASE);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  *bucket = cell->staged;  // read again: holding it would cost four saved registers
  cell->untimed = cell->staged_untimed;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  __atomic_store_n(state, uint64_t{sequence + 1}, __ATOMIC_RELEASE);
}

// The thread goes on without its active measurement, `record`.
inline void Abandon(ThreadState* thread, Record* record) {
  record->superseded = 1;
  record->usual = kNoPick;  // so that neither end of it takes the short way
  ++record->cells->abandoned;
  if (IsSampled(*record)) ++record->cells->sampled;
  thread->active = nullptr;
}

// While this lives, calls on this thread (from a signal handler, say) are not measured: cells have
// one writer. `record` is what the writing is about. Puts `after` in place as the active
// measurement at its end.
class NoMeasuring {
 public:
  NoMeasuring(ThreadState* thread, Record* record, Record* after) : thread_(thread), after_(after) {
    thread->active = Busy(record);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
  }
  ~NoMeasuring() {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    thread_->active = after_;
  }

 private:
  ThreadState* thread_;
  Record* after_;
};

}  // namespace fieldcost::preload
