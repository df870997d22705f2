#pragma once

// How a library inside a program writes to a Cell (run_file.h). No C++ runtime, no vector
// registers, no locks.

#include "common/shm/run_file.h"

namespace fieldcost::shm {

// Adds one value that represents 2^weight_log2 calls to a cell, such that the cell can be repaired
// after a kill at any instruction: see common/shm/run_file.h. Plain stores become visible in this
// order, since x86 does not reorder stores; the fences restrain the compiler.
inline void AddToCell(Cell* cell, uint64_t value, uint32_t weight_log2) {
  __extension__ using Wide = unsigned __int128;
  if (__builtin_expect(cell->staged_slot != 0, 0)) {
    // The last update was interrupted by a signal handler that jumped out of it.
    cell->buckets[cell->staged_slot - 1] = cell->staged;
    cell->untimed = cell->staged_untimed;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    auto* const whole = reinterpret_cast<uint64_t*>(&cell->sequence);
    __atomic_store_n(whole, uint64_t{cell->sequence + 1}, __ATOMIC_RELEASE);
  }
  const unsigned slot = SlotOf(value);
  RunBucket* const bucket = &cell->buckets[slot];
  while (__builtin_expect(weight_log2 != 0 && value > kMaxWeightedValue >> weight_log2, 0)) {
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
  *bucket = cell->staged;  // read again: keeping it would cost four saved registers
  cell->untimed = cell->staged_untimed;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  __atomic_store_n(state, uint64_t{sequence + 1}, __ATOMIC_RELEASE);
}

}  // namespace fieldcost::shm
