#pragma once

// The log2 buckets of recorded costs. Shared with the preload library: no C++ runtime.

#include <stdint.h>

namespace fieldcost::shm {

// Slot 0 holds the value 0; slot k + 1 holds the values of bucket k, [2^k, 2^(k+1)), k = 0..63.
inline constexpr unsigned kBucketSlots = 65;

// The slot of a value: 0 -> 0, 1 -> 1, 2..3 -> 2, 4..7 -> 3, ...
constexpr unsigned SlotOf(uint64_t value) {
  return value == 0 ? 0U : 64U - static_cast<unsigned>(__builtin_clzll(value));
}

// The smallest and largest value of a slot (both inclusive).
constexpr uint64_t SlotMin(unsigned slot) { return slot == 0 ? 0 : uint64_t{1} << (slot - 1); }
constexpr uint64_t SlotMax(unsigned slot) {
  return slot == 0 ? 0 : (slot == 64 ? ~uint64_t{0} : (uint64_t{1} << slot) - 1);
}

static_assert(SlotOf(0) == 0 && SlotOf(1) == 1 && SlotOf(3) == 2 && SlotOf(~uint64_t{0}) == 64);
static_assert(SlotMin(64) == uint64_t{1} << 63 && SlotMax(3) == 7);

}  // namespace fieldcost::shm
