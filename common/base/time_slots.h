#pragma once

#include <chrono>

#include "common/base/clock.h"

namespace fieldcost {

// Slots: the times phase, phase + period, phase + 2 period, … since 1970-01-01. Clients that each
// have a random phase spread their requests evenly over the period. Returns the first slot at or
// after `from`. REQUIRES: period > 0.
inline WallTime SlotAtOrAfter(WallTime from, std::chrono::microseconds phase,
                              std::chrono::microseconds period) {
  const std::chrono::microseconds zero(0);
  std::chrono::microseconds since_slot = (from.time_since_epoch() - phase) % period;
  if (since_slot < zero) since_slot += period;
  return since_slot == zero ? from : from + (period - since_slot);
}

}  // namespace fieldcost
