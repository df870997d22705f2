#include "common/stats/contribution.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "common/inference/machine_moments.h"
#include "common/stats/quarter_scalars.h"
#include "tests/common/stats/random_histogram.h"

namespace fieldcost::stats {
namespace {

TEST(Log2RatioTest, PowersOfTwoAreExact) {
  for (unsigned n = 0; n < 128; ++n) {
    for (unsigned d = 0; d < 64; ++d) {
      ASSERT_EQ(Log2RatioQ16(Uint128{1} << n, std::uint64_t{1} << d),
                (static_cast<int>(n) - static_cast<int>(d)) * 65536);
      if (n < 126 && d < 62) {
        ASSERT_EQ(Log2RatioQ16(Uint128{3} << n, std::uint64_t{3} << d),
                  (static_cast<int>(n) - static_cast<int>(d)) * 65536);
      }
    }
  }
}

TEST(Log2RatioTest, OneBelowAPowerOfTwoIsBelowIt) {
  EXPECT_EQ(Log2RatioQ16(~std::uint64_t{0}, 1), 64 * 65536 - 1);
  EXPECT_EQ(Log2RatioQ16(~Uint128{0}, 1), 128 * 65536 - 1);
  EXPECT_EQ(Log2RatioQ16(1, ~std::uint64_t{0}), -64 * 65536);
}

TEST(Log2RatioDeathTest, ZeroHasNoLogarithm) {
  EXPECT_DEATH(Log2RatioQ16(0, 1), "numerator != 0");
  EXPECT_DEATH(Log2RatioQ16(1, 0), "denominator != 0");
}

TEST(Log2RatioTest, AgreesWithFloatingPointAwayFromTheSteps) {
  std::mt19937_64 random(6);
  int compared = 0;
  for (int i = 0; i < 100000; ++i) {
    const Uint128 n = MakeUint128(random() >> (random() % 64), random()) >> (random() % 64);
    const std::uint64_t d = random() >> (random() % 64);
    if (n == 0 || d == 0) continue;
    const long double exact =
        (std::log2(static_cast<long double>(n)) - std::log2(static_cast<long double>(d))) * 65536;
    if (std::abs(exact - std::round(exact)) < 1e-6L) continue;
    ASSERT_EQ(Log2RatioQ16(n, d), static_cast<std::int32_t>(std::floor(exact)));
    ++compared;
  }
  EXPECT_GT(compared, 90000);
}

TEST(Log2RatioTest, TheShortcutAgreesWithTheFullComputation) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 200'000; ++i) {
    const std::uint64_t d = (random() >> (random() % 64)) | 1;
    // Any ratios, and ones close to powers of two, where the fast method cannot always decide.
    const std::uint64_t n =
        i % 2 == 0 ? (random() >> (random() % 64)) | 1 : (d << (random() % 64)) + random() % 3 - 1;
    if (n == 0) continue;
    ASSERT_EQ(Log2RatioQ16(n, d), Log2RatioQ16Wide(n, d)) << n << " / " << d;
  }
}

TEST(ScalarsTest, GoldenValues) {
  CostHistogram histogram;
  for (const std::uint64_t value : {0, 1, 2, 4, 8}) histogram.Add(value);  // logs -1, 0, 1, 2, 3
  const ContributionScalars scalars = ScalarsOf(histogram);
  EXPECT_EQ(scalars.contributions, 1U);
  EXPECT_TRUE(scalars.sum_mean == 65536);                            // 1
  EXPECT_TRUE(scalars.sum_mean_cubed == Int128{1} << 48);            // 1
  EXPECT_TRUE(scalars.sum_mean_squared == Uint128{1} << 32);         // 1
  EXPECT_TRUE(scalars.sum_inverse_calls == (Uint128{1} << 32) / 5);  // 1/5
  EXPECT_TRUE(scalars.sum_within_squares == Uint128{10} << 32);      // 4 + 1 + 0 + 1 + 4
  EXPECT_TRUE(scalars.sum_within_freedom == 4);
}

TEST(ScalarsTest, OnlyCallsThatWereTimedAreIndependent) {
  CostHistogram timed;
  CostHistogram stood_for;
  for (const std::uint64_t value : {3, 9, 9, 100, 70'000}) {
    timed.Add(value);
    stood_for.Add(value, 1 << 10);
  }
  EXPECT_EQ(ScalarsOf(stood_for), ScalarsOf(timed));
  // If weights are unequal, the mean is that of all calls.
  CostHistogram early = timed;
  early.Add(3, std::uint64_t{1} << 40);
  EXPECT_EQ(ScalarsOf(early).sum_mean, Log2RatioQ16(3, 1));
  EXPECT_EQ(ScalarsOf(early).sum_within_freedom, 5U);
  EXPECT_TRUE(Validate(ScalarsOf(early)).has_value());
  CostHistogram one;
  one.Add(77, 1 << 14);
  EXPECT_EQ(ScalarsOf(one).sum_within_freedom, 0U);
  EXPECT_TRUE(Validate(ScalarsOf(one)).has_value());
}

TEST(ScalarsTest, EmptyHistogramIsNotAContribution) {
  EXPECT_EQ(ScalarsOf(CostHistogram()), ContributionScalars());
}

TEST(ScalarsTest, NegativeMeansAreRoundedDown) {
  CostHistogram histogram;
  for (int i = 0; i < 2; ++i) histogram.Add(0);
  histogram.Add(1);
  EXPECT_TRUE(ScalarsOf(histogram).sum_mean == -43691);  // -2/3 * 65536 = -43690.67
}

TEST(ScalarsTest, ScalarsOfEveryHistogramAreValidAndTheSameEachTime) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 2000; ++i) {
    const CostHistogram histogram = RandomHistogram(random, 60, 60);
    const ContributionScalars scalars = ScalarsOf(histogram);
    ASSERT_EQ(ScalarsOf(CostHistogram(histogram)), scalars);
    const Status status = Validate(scalars);
    ASSERT_TRUE(status.has_value()) << status.error().message;
  }
}

TEST(ScalarsTest, MergeIsExactInAnyOrderAndSubtractUndoesIt) {
  std::mt19937_64 random(8);
  std::vector<ContributionScalars> parts;
  for (int i = 0; i < 300; ++i) parts.push_back(ScalarsOf(RandomHistogram(random)));
  ContributionScalars forth;
  for (const auto& part : parts) forth.Merge(part);
  ContributionScalars back;
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) back.Merge(*part);
  EXPECT_EQ(forth, back);
  EXPECT_TRUE(Validate(forth).has_value());
  for (const auto& part : parts) {
    const Status status = back.Subtract(part);
    ASSERT_TRUE(status.has_value()) << status.error().message;
  }
  EXPECT_EQ(back, ContributionScalars());
}

// The greatest accepted number of contributions, at either end of the range of means.
TEST(ScalarsTest, CubesDoNotOverflow) {
  CostHistogram zero;
  zero.Add(0);
  CostHistogram greatest;
  greatest.Add(~std::uint64_t{0});
  for (const CostHistogram& histogram : {zero, greatest}) {
    ContributionScalars sum = ScalarsOf(histogram);
    const Int128 cube = sum.sum_mean_cubed;
    for (int doubling = 0; doubling < 56; ++doubling) sum.Merge(ContributionScalars(sum));
    EXPECT_EQ(sum.contributions, std::uint64_t{1} << 56);
    EXPECT_TRUE(sum.sum_mean_cubed / (std::int64_t{1} << 56) == cube);
    EXPECT_TRUE(Validate(sum).has_value());
    EXPECT_NEAR(inference::MomentsOf(sum).skewness.value(), 0, 1e-9);
    sum.Merge(sum);
    EXPECT_FALSE(Validate(sum).has_value()) << "more than can be";
  }
}

TEST(ScalarsTest, SkewnessIsThatOfTheMeans) {
  std::mt19937_64 random(10);
  for (int repetition = 0; repetition < 50; ++repetition) {
    ContributionScalars sum;
    std::vector<double> means;
    for (std::uint64_t i = 0; i < 3 + random() % 40; ++i) {
      CostHistogram histogram = RandomHistogram(random);
      histogram.Add(random() >> (random() % 64));
      const ContributionScalars one = ScalarsOf(histogram);
      means.push_back(static_cast<double>(one.sum_mean) * 0x1p-16);
      sum.Merge(one);
    }
    const auto n = static_cast<double>(means.size());
    double mean = 0;
    for (const double m : means) mean += m / n;
    double squares = 0;
    double cubes = 0;
    for (const double m : means) {
      squares += (m - mean) * (m - mean) / n;
      cubes += std::pow(m - mean, 3) / n;
    }
    const double expected = std::sqrt(n * (n - 1)) / (n - 2) * cubes / std::pow(squares, 1.5);
    EXPECT_NEAR(inference::MomentsOf(sum).skewness.value(), expected, 1e-6);
  }
}

TEST(QuarterScalarsTest, MustBeAPartOfTheRows) {
  std::mt19937_64 random(12);
  ContributionScalars row;
  for (int i = 0; i < 5; ++i) {
    CostHistogram histogram = RandomHistogram(random);
    histogram.Add(3);
    row.Merge(ScalarsOf(histogram));
  }
  CostHistogram histogram;
  histogram.Add(9);
  const ContributionScalars week = ScalarsOf(histogram);
  ContributionScalars all = row;
  all.Merge(week);
  EXPECT_TRUE(Validate(QuarterScalars{}, row).has_value());
  EXPECT_TRUE(Validate(QuarterScalars{2900, week}, all).has_value());
  EXPECT_TRUE(Validate(QuarterScalars{2900, all}, all).has_value());
  EXPECT_FALSE(Validate(QuarterScalars{0, week}, all).has_value());
  EXPECT_FALSE(Validate(QuarterScalars{2900, {}}, all).has_value());
  EXPECT_FALSE(Validate(QuarterScalars{2900, all}, row).has_value());
}

TEST(ScalarsTest, SubtractingWhatWasNeverAddedChangesNothing) {
  CostHistogram small;
  small.Add(3);
  CostHistogram great;
  for (int i = 0; i < 9; ++i) great.Add(std::uint64_t{1} << i);
  ContributionScalars scalars = ScalarsOf(small);
  EXPECT_EQ(scalars.Subtract(ScalarsOf(great)).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(scalars, ScalarsOf(small));
}

TEST(ScalarsTest, ImpossibleScalarsAreRefused) {
  std::mt19937_64 random(9);
  ContributionScalars good;
  for (int i = 0; i < 5; ++i) {
    CostHistogram histogram = RandomHistogram(random);
    histogram.Add(7);
    good.Merge(ScalarsOf(histogram));
  }
  ASSERT_TRUE(Validate(good).has_value());
  const std::vector<void (*)(ContributionScalars&)> corruptions = {
      [](ContributionScalars& s) { s.contributions = 0; },
      [](ContributionScalars& s) { s.contributions = 1; },
      [](ContributionScalars& s) { s.sum_mean = Int128{1} << 126; },
      [](ContributionScalars& s) { s.sum_mean = -(Int128{1} << 126); },
      [](ContributionScalars& s) { s.sum_mean += 1; },
      [](ContributionScalars& s) { s.sum_mean_squared = 0; },
      [](ContributionScalars& s) { s.sum_mean_squared = ~Uint128{0}; },
      [](ContributionScalars& s) { s.sum_inverse_calls = (Uint128{5} << 32) + 1; },
      [](ContributionScalars& s) { s.sum_within_freedom = 0; },
      [](ContributionScalars& s) { s.sum_within_freedom = ~Uint128{0}; },
      [](ContributionScalars& s) { s.sum_within_squares = ~Uint128{0}; },
      [](ContributionScalars& s) { s.sum_mean_cubed = 0; },
      [](ContributionScalars& s) { s.sum_mean_cubed += 1; },
      [](ContributionScalars& s) { s.sum_mean_cubed += 2; },
      [](ContributionScalars& s) { s.sum_mean_cubed = -s.sum_mean_cubed; },
      [](ContributionScalars& s) { s.sum_mean_cubed = Int128{1} << 126; },
      [](ContributionScalars& s) { s.sum_mean_cubed = -(Int128{1} << 126); },
  };
  for (std::size_t i = 0; i < corruptions.size(); ++i) {
    ContributionScalars bad = good;
    corruptions[i](bad);
    const Status status = Validate(bad);
    ASSERT_FALSE(status.has_value()) << "corruption " << i;
    EXPECT_EQ(status.error().code, ErrorCode::kCorrupt);
  }
}

}  // namespace
}  // namespace fieldcost::stats
