#include "common/stats/uint128.h"

#include <gtest/gtest.h>

#include <random>

namespace fieldcost::stats {
namespace {

constexpr Uint128 kMost = ~Uint128{0};

TEST(Uint128Test, ProductOfTheGreatestNumbersIsExact) {
  // (2^128 - 1)^2 = 2^256 - 2^129 + 1
  EXPECT_TRUE((Multiply(kMost, kMost) == WideProduct{.high = kMost - 1, .low = 1}));
  EXPECT_TRUE((Multiply(kMost, 0) == WideProduct{.high = 0, .low = 0}));
  EXPECT_TRUE((Multiply(Uint128{1} << 127, 4) == WideProduct{.high = 2, .low = 0}));
}

TEST(Uint128Test, ProductsAgreeWithShiftAndAdd) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 10000; ++i) {
    const Uint128 a = MakeUint128(random() >> (random() % 64), random());
    const Uint128 b = MakeUint128(random() >> (random() % 64), random());
    // Multiplies bit by bit: slow, but obviously correct.
    WideProduct expected{.high = 0, .low = 0};
    for (int bit = 127; bit >= 0; --bit) {
      expected = {.high = (expected.high << 1) | (expected.low >> 127), .low = expected.low << 1};
      if (((b >> bit) & 1U) != 0) expected = Add(expected, a);
    }
    ASSERT_TRUE(Multiply(a, b) == expected);
  }
}

TEST(Uint128Test, AddingCarriesIntoTheHighHalf) {
  EXPECT_TRUE((Add({.high = 6, .low = kMost}, 1) == WideProduct{.high = 7, .low = 0}));
}

TEST(Uint128Test, SaturatingAdditionStaysAtTheMaximumAndReportsIt) {
  bool saturated = false;
  EXPECT_EQ(SaturatingAdd<std::uint64_t>(~std::uint64_t{0} - 1, 1, saturated), ~std::uint64_t{0});
  EXPECT_FALSE(saturated);
  EXPECT_EQ(SaturatingAdd<std::uint64_t>(~std::uint64_t{0}, 1, saturated), ~std::uint64_t{0});
  EXPECT_TRUE(saturated);
}

}  // namespace
}  // namespace fieldcost::stats
