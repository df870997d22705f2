#pragma once

#include <compare>
#include <cstdint>

namespace fieldcost::stats {

// Sums are exact integers of 128 bits.
__extension__ using Uint128 = unsigned __int128;
__extension__ using Int128 = __int128;

constexpr Uint128 MakeUint128(std::uint64_t high, std::uint64_t low) {
  return (Uint128{high} << 64) | low;
}
constexpr std::uint64_t High64(Uint128 value) { return static_cast<std::uint64_t>(value >> 64); }
constexpr std::uint64_t Low64(Uint128 value) { return static_cast<std::uint64_t>(value); }

// The exact 256-bit product of two 128-bit numbers; ordered by value.
struct WideProduct {
  Uint128 high;
  Uint128 low;
  constexpr auto operator<=>(const WideProduct&) const = default;
};
WideProduct Multiply(Uint128 a, Uint128 b);
// REQUIRES: the sum is below 2^256.
WideProduct Add(WideProduct a, Uint128 b);

// Saturating addition: a + b, at most 2^N - 1; sets `saturated` on overflow, otherwise leaves it
// unchanged. Like plain addition, it is commutative and associative, so even saturated sums do not
// depend on order.
template <typename Unsigned>
constexpr Unsigned SaturatingAdd(Unsigned a, Unsigned b, bool& saturated) {
  const auto sum = static_cast<Unsigned>(a + b);
  if (sum >= a) return sum;
  saturated = true;
  return static_cast<Unsigned>(~Unsigned{0});
}

}  // namespace fieldcost::stats
