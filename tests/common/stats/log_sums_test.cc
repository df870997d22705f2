#include "common/stats/log_sums.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "common/shm/log2_fixed.h"

namespace fieldcost::stats {
namespace {

TEST(LogSumsTest, MeanAndSpreadAreThoseOfTheLogarithms) {
  LogSums sums;
  EXPECT_EQ(sums.Mean(), 0);
  EXPECT_EQ(sums.SquaresAroundMean(), 0);
  for (const std::uint64_t cost : {4, 16, 64}) sums.Add(cost);
  EXPECT_EQ(sums, (LogSums{.count = 3, .sum = 256 * 12, .sum_squares = 65536 * (4 + 16 + 36)}));
  EXPECT_DOUBLE_EQ(sums.Mean(), 4);
  EXPECT_DOUBLE_EQ(sums.SquaresAroundMean(), 8);
}

TEST(LogSumsTest, MergingInAnyOrderGivesTheSameBits) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 200; ++i) {
    std::vector<InputSums> parts(5);
    InputSums whole;
    for (int call = 0; call < 50; ++call) {
      const std::uint64_t input = random() >> (random() % 64);
      const std::uint64_t cost = random() >> (random() % 64);
      parts[random() % parts.size()].Add(input, cost);
      whole.Add(input, cost);
    }
    std::ranges::shuffle(parts, random);
    InputSums merged = parts[3];
    for (const std::size_t part : {0, 4, 1, 2}) merged.Merge(parts[part]);
    ASSERT_EQ(merged, whole);
    for (const LogSums& sums : whole.by_bucket) ASSERT_TRUE(IsPossible(sums));
  }
}

TEST(LogSumsTest, ASumThatWouldPassItsTypeStaysAtTheTop) {
  constexpr std::uint64_t kMost = ~std::uint64_t{0};
  LogSums sums{.count = kMost, .sum = kMost, .sum_squares = kMost};
  sums.Add(1000);
  EXPECT_EQ(sums, (LogSums{.count = kMost, .sum = kMost, .sum_squares = kMost}));
  // As many calls as the header guarantees, at the maximum cost.
  const std::uint64_t calls = std::uint64_t{1} << 36;
  const std::uint64_t dearest = shm::kMostLog2Times256;
  const LogSums half{
      .count = calls / 2, .sum = calls / 2 * dearest, .sum_squares = calls / 2 * dearest * dearest};
  sums = half;
  sums.Merge(half);
  EXPECT_EQ(sums.sum_squares, calls * dearest * dearest);
  EXPECT_DOUBLE_EQ(sums.Mean(), static_cast<double>(dearest) / 256);
  EXPECT_DOUBLE_EQ(sums.SquaresAroundMean(), 0);
}

TEST(LogSumsTest, SumsThatNoCostsHaveAreImpossible) {
  EXPECT_TRUE(IsPossible({}));
  EXPECT_FALSE(IsPossible({.count = 0, .sum = 1, .sum_squares = 1}));
  EXPECT_FALSE(IsPossible({.count = 1, .sum = 16'384, .sum_squares = 16'384 * 16'384}));
  EXPECT_FALSE(IsPossible({.count = 2, .sum = 10, .sum_squares = 49}));
  EXPECT_TRUE(IsPossible({.count = 2, .sum = 10, .sum_squares = 50}));
  EXPECT_FALSE(IsPossible({.count = 2, .sum = 1, .sum_squares = 16'384}));
}

}  // namespace
}  // namespace fieldcost::stats
