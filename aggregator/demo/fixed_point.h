#pragma once

#include <array>
#include <cstdint>

#include "common/base/check.h"
#include "common/shm/mix.h"
#include "common/stats/uint128.h"

namespace fieldcost::demo {

// Integers only, so that a seed gives the same costs with every compiler and C library. "Q16" is
// fixed point with 16 fractional bits; costs are computed in octaves (log2).

inline constexpr std::int32_t kOctaveQ16 = 1 << 16;
inline constexpr std::int32_t kMaxOctaves = 50;

// Hundredths of an octave, the unit of the tables.
constexpr std::int32_t CentiOctaves(std::int32_t hundredths) {
  return static_cast<std::int32_t>(std::int64_t{hundredths} * kOctaveQ16 / 100);
}

namespace internal {

constexpr std::uint64_t SquareRoot(stats::Uint128 square) {
  std::uint64_t root = 0;
  for (std::uint64_t bit = std::uint64_t{1} << 63; bit != 0; bit >>= 1) {
    const std::uint64_t next = root | bit;
    if (stats::Uint128{next} * next <= square) root = next;
  }
  return root;
}

inline constexpr unsigned kTableBits = 8;
// 2^(i / 2^8) and 2^(i / 2^16) for i below 256, with 62 bits of fraction.
struct Exp2Tables {
  std::array<std::uint64_t, 1 << kTableBits> coarse{};
  std::array<std::uint64_t, 1 << kTableBits> fine{};
};

constexpr Exp2Tables MakeExp2Tables() {
  std::array<std::uint64_t, 2 * kTableBits> roots{};  // 2^(1/2), 2^(1/4), ...
  std::uint64_t root = std::uint64_t{1} << 63;
  for (std::uint64_t& entry : roots) entry = root = SquareRoot(stats::Uint128{root} << 62);
  const auto power = [&](unsigned index, unsigned first_root) {
    stats::Uint128 product = stats::Uint128{1} << 62;
    for (unsigned bit = 0; bit < kTableBits; ++bit) {
      if ((index >> (kTableBits - 1 - bit) & 1) != 0) {
        product = product * roots[first_root + bit] >> 62;
      }
    }
    return static_cast<std::uint64_t>(product);
  };
  Exp2Tables tables;
  for (unsigned i = 0; i < 1U << kTableBits; ++i) {
    tables.coarse[i] = power(i, 0);
    tables.fine[i] = power(i, kTableBits);
  }
  return tables;
}

inline constexpr Exp2Tables kExp2 = MakeExp2Tables();

}  // namespace internal

// 2^octaves, rounded down; octaves outside of [0, kMaxOctaves] are clamped.
constexpr std::uint64_t Exp2Q16(std::int64_t octaves_q16) {
  if (octaves_q16 <= 0) return 1;
  if (octaves_q16 >= std::int64_t{kMaxOctaves} * kOctaveQ16) return std::uint64_t{1} << kMaxOctaves;
  const auto whole = static_cast<unsigned>(octaves_q16 >> 16);
  const auto fraction = static_cast<unsigned>(octaves_q16 & 0xffff);
  const stats::Uint128 mantissa = stats::Uint128{internal::kExp2.coarse[fraction >> 8]} *
                                      internal::kExp2.fine[fraction & 0xff] >>
                                  62;
  return static_cast<std::uint64_t>(mantissa >> (62 - whole));
}

// SplitMix64. Each combination of constructor arguments gives an independent stream.
class Random {
 public:
  template <typename... Parts>
  explicit Random(std::uint64_t seed, Parts... parts) : state_(seed) {
    ((state_ = Next() ^ static_cast<std::uint64_t>(parts)), ...);
  }

  std::uint64_t Next() { return shm::NextRandom(&state_); }

  // 0 .. bound - 1. REQUIRES: bound != 0.
  std::uint64_t Below(std::uint64_t bound) {
    FIELDCOST_CHECK(bound != 0);
    return static_cast<std::uint64_t>(stats::Uint128{Next()} * bound >> 64);
  }
  bool Percent(unsigned percent) { return Below(100) < percent; }

  // Mean 0, deviation 1, within +-6: the sum of twelve uniform numbers.
  std::int32_t NormalQ16() {
    std::int32_t sum = -6 * 0xffff;
    for (int word = 0; word < 3; ++word) {
      const std::uint64_t bits = Next();
      for (int part = 0; part < 4; ++part) {
        sum += static_cast<std::int32_t>(bits >> (16 * part) & 0xffff);
      }
    }
    return sum;
  }

  // A normal number with this deviation.
  std::int64_t NormalQ16(std::int32_t deviation_q16) {
    return std::int64_t{NormalQ16()} * deviation_q16 >> 16;
  }

  // 0, 1, 2, ... with the probability 1/2, 1/4, 1/8, ...
  unsigned Halvings() {
    return static_cast<unsigned>(__builtin_ctzll(Next() | std::uint64_t{1} << 40));
  }

 private:
  std::uint64_t state_;
};

}  // namespace fieldcost::demo
