#include "common/shm/log2_fixed.h"

#include <gtest/gtest.h>

#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <random>

extern "C" std::uint32_t fieldcost_test_log2_in_a_thunk(std::uint64_t value);

namespace fieldcost::shm {
namespace {

using boost::multiprecision::cpp_int;

// 2^step <= value^256 < 2^(step + 1), computed without rounding.
bool IsExact(std::uint64_t value, std::uint32_t step) {
  cpp_int power = value;
  for (int i = 0; i < 8; ++i) power *= power;
  return msb(power) == step;
}

// Finds the least value whose logarithm is at least `step`, by bisection.
std::uint64_t LeastOf(std::uint32_t step) {
  std::uint64_t low = 1;
  std::uint64_t high = ~std::uint64_t{0};
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (Log2Times256(middle) >= step) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

TEST(Log2FixedTest, EveryValueOf22BitsIsThatOfLongDouble) {
  for (std::uint64_t value = 2; value < (1U << 22); ++value) {
    const long double exact = std::floor(256 * std::log2(static_cast<long double>(value)));
    ASSERT_EQ(Log2Times256(value), static_cast<std::uint32_t>(exact)) << value;
  }
}

TEST(Log2FixedTest, EveryStepOfTheTopOctaveBeginsWhereTheIntegersSay) {
  for (std::uint32_t step = 63 * 256; step <= kMostLog2Times256; ++step) {
    const std::uint64_t least = LeastOf(step);
    ASSERT_TRUE(IsExact(least, step)) << step;
    ASSERT_TRUE(IsExact(least - 1, step - 1)) << step;
  }
}

TEST(Log2FixedTest, OtherOctavesAreExactAtTheirStepsAndBetween) {
  std::mt19937_64 random(20261123);
  for (std::uint32_t octave = 1; octave < 63; ++octave) {
    for (int i = 0; i < 20; ++i) {
      const auto step = octave * 256 + static_cast<std::uint32_t>(random() % 256);
      const std::uint64_t least = LeastOf(step);
      ASSERT_TRUE(IsExact(least, Log2Times256(least))) << step;
      ASSERT_TRUE(IsExact(least - 1, Log2Times256(least - 1))) << step;
      const std::uint64_t between = (random() | std::uint64_t{1} << 63) >> (63 - octave);
      ASSERT_TRUE(IsExact(between, Log2Times256(between))) << between;
    }
  }
}

TEST(Log2FixedTest, ZeroAndOneAreZeroAndItNeverFalls) {
  EXPECT_EQ(Log2Times256(0), 0U);
  EXPECT_EQ(Log2Times256(1), 0U);
  EXPECT_EQ(Log2Times256(~std::uint64_t{0}), kMostLog2Times256);
  std::mt19937_64 random(1);
  for (int i = 0; i < 1'000'000; ++i) {
    const std::uint64_t value = (random() >> (random() % 64)) | 1U;
    ASSERT_LE(Log2Times256(value - 1), Log2Times256(value)) << value;
  }
}

TEST(Log2FixedTest, IsTheSameWithoutVectorRegisters) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 10'000; ++i) {
    const std::uint64_t value = random() >> (random() % 64);
    ASSERT_EQ(fieldcost_test_log2_in_a_thunk(value), Log2Times256(value));
  }
}

}  // namespace
}  // namespace fieldcost::shm
