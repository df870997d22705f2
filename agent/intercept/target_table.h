#pragma once

#include <stdint.h>

#include "agent/intercept/thunk.h"

namespace fieldcost::intercept {

// Which of a library's targets has a hash: open addressing. Lies in zeroed memory.
struct TargetTable {
  static constexpr uint32_t kPlaces = 4 * kThunkCount;
  uint16_t places[kPlaces];  // number of the target + 1

  // The place of the number of the target with that hash for which `is_it(number)` is true; where
  // it is to be put if there is none.
  template <typename Predicate>
  uint16_t* Find(uint64_t hash, Predicate is_it) {
    uint64_t at = hash % kPlaces;
    while (places[at] != 0 && !is_it(places[at] - 1U)) at = (at + 1) % kPlaces;
    return &places[at];
  }
};

}  // namespace fieldcost::intercept
