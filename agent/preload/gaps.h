#pragma once

// Draws the number of untimed calls between two timed ones. Pure arithmetic, for handlers and
// tests.

#include <stdint.h>

#include "common/shm/mix.h"

namespace fieldcost::preload {

// Returns a random number below `range`. REQUIRES: range <= 2^32.
inline uint64_t RandomBelow(uint64_t range, uint64_t* random) {
  return ((shm::NextRandom(random) >> 32) * range) >> 32;
}

// Returns the gap after a call timed at a rate of one in N = 2^log2: uniform in 0..2N-2, on average
// N - 1. A fixed stride could synchronise with loops.
inline uint32_t DrawUsualGap(uint32_t log2, uint64_t* random) {
  return static_cast<uint32_t>(RandomBelow((uint64_t{2} << log2) - 1, random));
}

// Returns the remainder of such a gap at an independent moment: the lesser of two draws, from
// 0..2N-1 and 0..2N-2. From then on each call is timed with probability 1/N, so threads with few
// calls are not underrepresented. (Forward recurrence: Cox, Renewal Theory, 1962.)
inline uint32_t DrawLeftGap(uint32_t log2, uint64_t* random) {
  const auto a = static_cast<uint32_t>(RandomBelow(uint64_t{2} << log2, random));
  const uint32_t b = DrawUsualGap(log2, random);
  return a < b ? a : b;
}

// Returns the gap when the rate changes from one in 2^from to one in 2^to; `from` 0 also means that
// the history is unknown. A usual gap makes later calls represent (2^to - 1) / 3 too few on
// average, and the call before it, which is certain to have ended a gap, has represented (2^from -
// 1) / 3 too many; with this probability of a usual gap the two cancel out.
inline uint32_t DrawChangedGap(uint32_t from, uint32_t to, uint64_t* random) {
  if (RandomBelow((uint64_t{1} << to) - 1, random) < (uint64_t{1} << from) - 1) {
    return DrawUsualGap(to, random);
  }
  return DrawLeftGap(to, random);
}

}  // namespace fieldcost::preload
