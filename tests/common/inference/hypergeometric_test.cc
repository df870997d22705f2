#include "common/inference/hypergeometric.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "common/inference/tails.h"
#include "common/stats/uint128.h"

namespace fieldcost::inference {
namespace {

double LogChoose(std::uint64_t n, std::uint64_t k) {
  return std::lgamma(static_cast<double>(n) + 1) - std::lgamma(static_cast<double>(k) + 1) -
         std::lgamma(static_cast<double>(n - k) + 1);
}

const std::vector<Hypergeometric> kCases = {
    {.population = 1, .marked = 1, .drawn = 1},      {.population = 10, .marked = 0, .drawn = 4},
    {.population = 10, .marked = 4, .drawn = 10},    {.population = 30, .marked = 12, .drawn = 9},
    {.population = 30, .marked = 25, .drawn = 20},   {.population = 500, .marked = 3, .drawn = 250},
    {.population = 5000, .marked = 800, .drawn = 90}};

TEST(HypergeometricTest, ProbabilitiesAreThoseOfTheDefinition) {
  for (const Hypergeometric& it : kCases) {
    HypergeometricTable table;
    table.Build(it, 0);
    double total = 0;
    for (std::size_t i = 0; i < table.probabilities().size(); ++i) {
      const std::uint64_t x = table.first() + i;
      const double expected =
          std::exp(LogChoose(it.marked, x) + LogChoose(it.population - it.marked, it.drawn - x) -
                   LogChoose(it.population, it.drawn));
      EXPECT_NEAR(table.probabilities()[i], expected, 1e-10 * expected + 1e-300);
      total += expected;
    }
    EXPECT_NEAR(total, 1, 1e-10);
  }
}

TEST(HypergeometricTest, AtInvertsTheDistributionFunction) {
  for (const Hypergeometric& it : kCases) {
    HypergeometricTable table;
    table.Build(it, 0x1p-53);
    double below = 0;
    for (std::size_t i = 0; i < table.probabilities().size(); ++i) {
      const double p = table.probabilities()[i];
      if (p > 1e-12) {
        EXPECT_EQ(table.At(below + p / 2), table.first() + i);
      }
      below += p;
    }
    EXPECT_EQ(table.At(0), table.first());
    EXPECT_LT(table.At(std::nextafter(1, 0)), table.first() + table.probabilities().size());
  }
}

// The normal approximation is worst just above the threshold.
TEST(HypergeometricTest, TheApproximationOfLargeCountsIsAsCloseAsPromised) {
  int compared = 0;
  double worst = 0;
  for (const std::uint64_t population : {2000ULL, 20000ULL, 1000000ULL, 1000000000000000000ULL}) {
    for (const double share : {0.5, 0.3, 0.05, 0.001, 1e-8}) {
      const auto marked =
          static_cast<std::uint64_t>(std::floor(static_cast<double>(population) * share));
      HypergeometricSampler sampler(0);
      sampler.Reset(population, marked);
      if (sampler.Variance(population / 2) <= HypergeometricSampler::kExactVariance) continue;
      std::uint64_t low = 0;
      std::uint64_t high = population / 2;
      while (high - low > 1) {
        const std::uint64_t middle = low + (high - low) / 2;
        (sampler.Variance(middle) <= HypergeometricSampler::kExactVariance ? low : high) = middle;
      }
      HypergeometricTable table;
      table.Build({.population = population, .marked = marked, .drawn = high}, 0x1p-53);
      double exact = 0;
      for (std::size_t i = 0; i < table.probabilities().size(); ++i) {
        exact += table.probabilities()[i];
        double z_low = -12;
        double z_high = 12;
        for (int step = 0; step < 50; ++step) {
          const double z = (z_low + z_high) / 2;
          (sampler.AtNormal(high, z) <= table.first() + i ? z_low : z_high) = z;
        }
        worst = std::max(worst, std::abs(exact - (1 - NormalUpperTail(z_low))));
      }
      ++compared;
    }
  }
  EXPECT_EQ(compared, 14);
  EXPECT_LT(worst, 6e-6);
}

void ExpectMoments(const Hypergeometric& it) {
  constexpr std::size_t kDraws = 40000;
  HypergeometricSampler sampler(it.drawn);
  sampler.Reset(it.population, it.marked);
  const std::vector<std::uint64_t> drawn(kDraws, it.drawn);
  std::vector<std::uint64_t> found(kDraws);
  sampler.Draw(drawn, found);
  const double share = static_cast<double>(it.marked) / static_cast<double>(it.population);
  // In integers, since doubles cannot represent the greatest of these means exactly.
  const stats::Uint128 product = stats::Uint128{it.drawn} * it.marked;
  const auto whole = static_cast<std::uint64_t>(product / it.population);
  const double rest =
      static_cast<double>(product % it.population) / static_cast<double>(it.population);
  const double unmarked =
      static_cast<double>(it.population - it.marked) / static_cast<double>(it.population);
  const double variance = static_cast<double>(it.drawn) * share * unmarked *
                          static_cast<double>(it.population - it.drawn) /
                          (static_cast<double>(it.population) - 1);
  double sum = 0;
  double squares = 0;
  for (const std::uint64_t x : found) {
    ASSERT_LE(x, it.marked);
    ASSERT_LE(x, it.drawn);
    ASSERT_LE(it.drawn - x, it.population - it.marked);
    const double distance = static_cast<double>(stats::Int128{x} - whole) - rest;
    sum += distance;
    squares += distance * distance;
  }
  EXPECT_LT(std::abs(sum / kDraws), 4.5 * std::sqrt(variance / kDraws)) << it.drawn;
  EXPECT_NEAR(squares / kDraws / variance, 1, 0.05) << it.drawn;
}

TEST(HypergeometricTest, DrawsHaveTheRightMeanVarianceAndRange) {
  ExpectMoments({.population = 100, .marked = 30, .drawn = 20});
  ExpectMoments({.population = 100, .marked = 30, .drawn = 90});
  ExpectMoments({.population = 100, .marked = 80, .drawn = 70});
  ExpectMoments({.population = 5000, .marked = 2500, .drawn = 2400});
  ExpectMoments({.population = 1000000, .marked = 999000, .drawn = 10000});
  const std::uint64_t huge = std::uint64_t{1} << 61;
  ExpectMoments({.population = huge, .marked = huge / 3, .drawn = 1000});
  ExpectMoments({.population = huge, .marked = huge / 3, .drawn = huge / 5});
  ExpectMoments({.population = huge, .marked = huge - 5000, .drawn = huge / 5});
  ExpectMoments({.population = huge, .marked = huge / 2, .drawn = huge - 3000});
}

TEST(HypergeometricTest, TablesOfOnePopulationDoNotServeAnother) {
  HypergeometricSampler reused(1);
  std::vector<std::uint64_t> drawn = {5, 5 + 512, 5, 7};
  std::vector<std::uint64_t> found(drawn.size());
  reused.Reset(1000, 900);
  reused.Draw(drawn, found);
  reused.Reset(1000, 0);
  reused.Draw(drawn, found);
  EXPECT_EQ(found, std::vector<std::uint64_t>({0, 0, 0, 0}));
  reused.Reset(600, 600);
  reused.Draw(drawn, found);
  EXPECT_EQ(found, drawn);
}

}  // namespace
}  // namespace fieldcost::inference
