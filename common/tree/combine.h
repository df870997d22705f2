#pragma once

#include <algorithm>

#include "common/tree/tree.h"

namespace fieldcost::tree {

// Sums with overflow checks; after an overflow, `to` is unspecified.

[[nodiscard]] inline bool AddTo(stats::Uint128& to, stats::Uint128 amount) {
  return !__builtin_add_overflow(to, amount, &to);
}

// Adds the values of other runs.
[[nodiscard]] inline bool Combine(const Spread& from, Spread& to) {
  const bool fits = AddTo(to.sum, from.sum) && AddTo(to.sum_squares, from.sum_squares);
  to.min = std::min(to.min, from.min);
  to.max = std::max(to.max, from.max);
  return fits;
}

}  // namespace fieldcost::tree
