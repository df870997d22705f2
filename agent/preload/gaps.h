#pragma once

// How many calls are let go between two that are timed. Pure arithmetic, for handlers and tests.

#include <stdint.h>

#include "common/shm/mix.h"

namespace fieldcost::preload {

// 0 <= result < range. REQUIRES: range <= 2^32.
inline uint64_t RandomBelow(uint64_t range, uint64_t* random) {
  return ((shm::NextRandom(random) >> 32) * range) >> 32;
}

// The gap after a call that was timed where one in N = 2^log2 is: uniform in 0..2N-2, N - 1 on
// average. A fixed stride would fall into step with loops.
inline uint32_t DrawUsualGap(uint32_t log2, uint64_t* random) {
  return static_cast<uint32_t>(RandomBelow((uint64_t{2} << log2) - 1, random));
}

// What is left, on average, of such a gap at a moment that knows nothing of it: the lesser of two
// draws, of 0..2N-1 and 0..2N-2. From such a moment on each call is timed with probability 1/N,
// and so few calls are not too few timed ones. (Forward recurrence: Cox, Renewal Theory, 1962.)
inline uint32_t DrawLeftGap(uint32_t log2, uint64_t* random) {
  const auto a = static_cast<uint32_t>(RandomBelow(uint64_t{2} << log2, random));
  const uint32_t b = DrawUsualGap(log2, random);
  return a < b ? a : b;
}

// The gap after a call that was timed where one in 2^from was, when one in 2^to shall be; `from` 0
// also means that nothing is known of what was before. A usual gap makes later calls stand for
// (2^to - 1) / 3 too little on average, and the call before it, which ended a gap for certain, has
// stood for (2^from - 1) / 3 too much; with this probability of a usual gap the two are equal.
inline uint32_t DrawChangedGap(uint32_t from, uint32_t to, uint64_t* random) {
  if (RandomBelow((uint64_t{1} << to) - 1, random) < (uint64_t{1} << from) - 1) {
    return DrawUsualGap(to, random);
  }
  return DrawLeftGap(to, random);
}

}  // namespace fieldcost::preload
