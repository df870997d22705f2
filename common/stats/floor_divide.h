#pragma once

#include <cstdint>

#include "common/stats/uint128.h"

namespace fieldcost::stats {

// The quotient rounded down. REQUIRES: the denominator is not 0.
constexpr Int128 FloorDivide(Int128 numerator, std::uint64_t denominator) {
  const auto n = static_cast<std::int64_t>(numerator);
  const auto d = static_cast<std::int64_t>(denominator);
  if (n == numerator && d > 0) return n / d - (n % d < 0 ? 1 : 0);  // many times faster
  return numerator / Int128{denominator} - (numerator % Int128{denominator} < 0 ? 1 : 0);
}

}  // namespace fieldcost::stats
