#pragma once

// Integer logarithms, computed with integers only. Used after the end stamp of a timed call, inside
// the measured program: no C++ runtime, no floating point, no vector registers, no branches (30
// instructions on x86-64); 2 KiB of constants, two or three cache lines per call.

#include <stdint.h>

namespace fieldcost::shm {

// The tables of Log2Times256(), computed by the compiler.
class Log2Tables {
 public:
  constexpr Log2Tables() {
    for (unsigned j = 0; j <= kChords; ++j) chord_[j] = FractionOfLog2(j);
    Fixed roots[kFractionBits] = {};  // 2^(1/2), 2^(1/4), ...
    for (unsigned k = 0; k < kFractionBits; ++k) {
      roots[k] = SquareRoot(k == 0 ? kOne * 2 : roots[k - 1]);
    }
    for (unsigned i = 1; i < kSteps; ++i) {
      Fixed power = kOne;  // 2^(i/256)
      for (unsigned k = 0; k < kFractionBits; ++k) {
        if ((i >> (kFractionBits - 1 - k) & 1U) != 0) power = Multiply(power, roots[k]);
      }
      last_[i - 1] = static_cast<uint64_t>(power >> (kOneShift - 63));
    }
    last_[kSteps - 1] = ~uint64_t{0};
  }

  // floor(256 * log2(mantissa / 2^63)). REQUIRES: mantissa >= 2^63.
  constexpr uint32_t Of(uint64_t mantissa) const {
    const uint64_t fraction = mantissa << 1U;
    const auto at = static_cast<unsigned>(fraction >> 59U);
    const auto rest = static_cast<uint32_t>(fraction >> 43U) & 0xffffU;
    // A chord is at most 0.05 steps below the logarithm, so the result is this step or the next.
    const uint32_t step = (chord_[at] + ((chord_[at + 1] - chord_[at]) * rest >> 16U)) >> 8U;
    return step + (mantissa > last_[step] ? 1U : 0U);
  }

 private:
  __extension__ using Fixed = unsigned __int128;  // 126 fractional bits
  static constexpr unsigned kOneShift = 126;
  static constexpr Fixed kOne = Fixed{1} << kOneShift;
  static constexpr unsigned kFractionBits = 8;
  static constexpr unsigned kSteps = 1U << kFractionBits;
  static constexpr unsigned kChords = 32;

  static constexpr Fixed Multiply(Fixed a, Fixed b) {
    const auto low = [](Fixed x) { return Fixed{static_cast<uint64_t>(x)}; };
    const Fixed middle_a = (a >> 64U) * low(b);
    const Fixed middle_b = low(a) * (b >> 64U);
    const Fixed middle = (low(a) * low(b) >> 64U) + low(middle_a) + low(middle_b);
    const Fixed high =
        (a >> 64U) * (b >> 64U) + (middle_a >> 64U) + (middle_b >> 64U) + (middle >> 64U);
    return high << (128 - kOneShift) | low(middle) >> (kOneShift - 64);
  }
  static constexpr Fixed SquareRoot(Fixed x) {
    Fixed root = 0;
    for (unsigned bit = kOneShift + 1; bit-- > 0;) {
      const Fixed next = root | Fixed{1} << bit;
      if (Multiply(next, next) <= x) root = next;
    }
    return root;
  }
  // floor(65536 * log2(1 + j / 32)), by squaring.
  static constexpr uint32_t FractionOfLog2(unsigned j) {
    if (j == kChords) return 65536;
    Fixed x = kOne + j * (kOne / kChords);
    uint32_t bits = 0;
    for (unsigned bit = 0; bit < 16; ++bit) {
      x = Multiply(x, x);
      bits <<= 1U;
      if (x >= 2 * kOne) {
        x >>= 1U;
        bits |= 1U;
      }
    }
    return bits;
  }

  uint64_t last_[kSteps] = {};        // the greatest mantissa of each step
  uint32_t chord_[kChords + 1] = {};  // log2 at the ends of chords, in 1/256 of a step
};

inline constexpr Log2Tables kLog2Tables;
static_assert(sizeof kLog2Tables <= 2048 + 136);

// floor(256 * log2(v)), exactly; 0 for v = 0. At most 16,383.
constexpr uint32_t Log2Times256(uint64_t v) {
  v += v == 0 ? 1U : 0U;
  const auto zeros = static_cast<unsigned>(__builtin_clzll(v));
  return ((63U - zeros) << 8U) + kLog2Tables.Of(v << zeros);
}
inline constexpr uint32_t kMostLog2Times256 = 16383;

static_assert(Log2Times256(0) == 0 && Log2Times256(1) == 0 && Log2Times256(2) == 256);
static_assert(Log2Times256(3) == 405 && Log2Times256(1000) == 2551);
static_assert(Log2Times256(~uint64_t{0}) == kMostLog2Times256);

}  // namespace fieldcost::shm
