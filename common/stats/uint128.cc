#include "common/stats/uint128.h"

namespace fieldcost::stats {

WideProduct Multiply(Uint128 a, Uint128 b) {
  // Schoolbook multiplication in 64-bit digits.
  const Uint128 low_low = Uint128{Low64(a)} * Low64(b);
  const Uint128 low_high = Uint128{Low64(a)} * High64(b);
  const Uint128 high_low = Uint128{High64(a)} * Low64(b);
  const Uint128 high_high = Uint128{High64(a)} * High64(b);
  const Uint128 middle = Uint128{High64(low_low)} + Low64(low_high) + Low64(high_low);
  return {.high = high_high + High64(low_high) + High64(high_low) + High64(middle),
          .low = MakeUint128(Low64(middle), Low64(low_low))};
}

WideProduct Add(WideProduct a, Uint128 b) {
  const Uint128 low = a.low + b;
  return {.high = a.high + (low < b ? 1U : 0U), .low = low};
}

}  // namespace fieldcost::stats
