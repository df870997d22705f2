#include "common/stats/shape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "tests/common/stats/random_histogram.h"
#include "tests/common/stats/shape_cases.h"

namespace fieldcost::stats {
namespace {

using ::testing::AllOf;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::Le;

constexpr int kSeeds = 40;

// A short version of the tables in common/stats/FIGURES.md; `shape_table` prints the long one.
double ExpectRight(std::span<const ShapeCase> cases, double each) {
  double sum = 0;
  for (const ShapeCase& shape_case : cases) {
    for (const double preempted : {0.0, 0.002}) {
      const double right = RightShare(shape_case, preempted, kSeeds);
      EXPECT_GE(right, each) << shape_case.name << ", preempted " << preempted;
      sum += right / 2;
    }
  }
  return sum / static_cast<double>(cases.size());
}

TEST(ShapeCasesTest, TriedDistributionsAreRightInEachOf98Percent) {
  ASSERT_EQ(TriedCases().size(), 15U);
  EXPECT_GE(ExpectRight(TriedCases(), 0.98), 0.98);
}

TEST(ShapeCasesTest, DistributionsThatTheRulesHadNotMetAreRightIn98Percent) {
  ASSERT_GE(LastHeldOutCases().size(), 10U);
  EXPECT_GE(ExpectRight(LastHeldOutCases(), 0.8), 0.98);
  EXPECT_GE(ExpectRight(HeldOutCases(), 0.95), 0.98);
  EXPECT_GE(ExpectRight(LaterHeldOutCases(), 0.95), 0.98);
}

class Builder {
 public:
  Builder& Calls(int calls, std::uint64_t cost) {
    for (int i = 0; i < calls; ++i) {
      input_.cost.Add(cost);
      input_.log_cost.Add(cost);
    }
    return *this;
  }
  Builder& FirstCalls(int processes, std::uint64_t cost) {
    for (int i = 0; i < processes; ++i) input_.first_calls.Add(cost);
    input_.processes += static_cast<std::uint64_t>(processes);
    return Calls(processes, cost);
  }
  // `calls` calls for each power of two from 2^first on, with the costs in this order.
  Builder& Growing(unsigned number, int calls, unsigned first,
                   const std::vector<std::uint64_t>& costs) {
    ShapeArgument argument{.number = number};
    for (const std::uint64_t cost : costs) {
      for (int i = 0; i < calls; ++i) argument.sums.Add(std::uint64_t{1} << first, cost);
      ++first;
      if (input_.arguments.empty()) Calls(calls, cost);
    }
    input_.arguments.push_back(argument);
    return *this;
  }
  ShapeInput& Input() { return input_; }
  ShapeResult Result() const { return ClassifyShape(input_); }

 private:
  ShapeInput input_;
};

TEST(ShapeTest, Below100CallsNothingIsClaimed) {
  const ShapeResult result = Builder().Calls(99, 500).Result();
  EXPECT_EQ(result.shape, Shape::kTooFewCalls);
  EXPECT_EQ(Sentence(result), "too few calls");
  EXPECT_EQ(Sentence(Builder().Calls(100, 500).Result()), "constant");
  // Untimed calls are not evidence.
  Builder weighted;
  for (int i = 0; i < 99; ++i) weighted.Input().cost.Add(500, 16);
  weighted.Input().cost.SetUntimed(99 * 15);
  EXPECT_EQ(weighted.Result().shape, Shape::kTooFewCalls);
}

TEST(ShapeTest, GrowthComesWithItsEvidence) {
  const ShapeResult result = Builder().Growing(3, 50, 4, {100, 200, 400, 800, 1600}).Result();
  ASSERT_EQ(result.shape, Shape::kGrows);
  ASSERT_TRUE(result.growth);
  EXPECT_EQ(result.growth->argument, 3U);
  EXPECT_NEAR(result.growth->exponent, 1, 0.01);
  EXPECT_NEAR(result.growth->r_squared, 1, 1e-9);
  EXPECT_NEAR(result.growth->explained, 1, 1e-6);
  EXPECT_NEAR(result.growth->rise_octaves, 4, 0.01);
  ASSERT_EQ(result.growth->points.size(), 5U);
  EXPECT_EQ(result.growth->points[0].slot, 5U);
  EXPECT_EQ(result.growth->points[0].calls, 50U);
  EXPECT_NEAR(result.growth->points[4].octaves, std::log2(1600), 0.01);
  EXPECT_EQ(Sentence(result), "grows with argument 3, ~n^1.0");
}

// `floor` + 100 n^e with log-uniform n from 1 to 65,536.
double ExponentOver(double floor, double e) {
  Builder builder;
  ShapeArgument argument{.number = 1};
  for (int i = 0; i < 3200; ++i) {
    const double n = std::exp2(i / 200.0);
    const auto cost = static_cast<std::uint64_t>(floor + 100 * std::pow(n, e));
    argument.sums.Add(static_cast<std::uint64_t>(n), cost);
    builder.Calls(1, cost);
  }
  builder.Input().arguments = {argument};
  return builder.Result().growth->exponent;
}

TEST(ShapeTest, ExponentsUseBucketsAboveTheFloor) {
  for (const double e : {0.5, 1.0, 1.5, 2.0}) EXPECT_NEAR(ExponentOver(0, e), e, 0.02);
  // With a fixed cost they are underestimated: here the greatest cost is 2, 4 and 8 octaves above
  // it.
  const double most = 100 * 65'536;
  EXPECT_NEAR(ExponentOver(most / 3, 1), 0.6, 0.05);
  EXPECT_NEAR(ExponentOver(most / 15, 1), 0.8, 0.05);
  EXPECT_NEAR(ExponentOver(most / 255, 1), 0.9, 0.05);
}

TEST(ShapeTest, GrowthNeedsFourBucketsOfTenCallsOverThreeOctavesAndARise) {
  using Costs = std::vector<std::uint64_t>;
  const auto grows = [](int calls, const Costs& costs) {
    return Builder().Growing(1, calls, 3, costs).Calls(100, 500).Result().growth.has_value();
  };
  EXPECT_TRUE(grows(50, {500, 700, 900, 1200}));
  EXPECT_FALSE(grows(50, {500, 800, 1200}));
  EXPECT_TRUE(grows(10, {500, 700, 900, 1200}));
  EXPECT_FALSE(grows(9, {500, 700, 900, 1200}));
  EXPECT_TRUE(grows(50, {500, 700, 900, 1003}));
  EXPECT_FALSE(grows(50, {500, 700, 900, 990}));  // less than an octave
  EXPECT_FALSE(grows(50, {1200, 900, 700, 500}));
  EXPECT_FALSE(grows(50, {500, 4000, 600, 1200}));  // R^2
  // Three buckets, although they span eight octaves.
  Builder far;
  ShapeArgument argument{.number = 1};
  for (const unsigned octave : {0U, 4U, 8U}) {
    for (int i = 0; i < 50; ++i) {
      argument.sums.Add(std::uint64_t{1} << octave, 500U << octave);
      far.Calls(1, 500U << octave);
    }
  }
  far.Input().arguments = {argument};
  EXPECT_FALSE(far.Result().growth.has_value());
}

TEST(ShapeTest, IgnoresGrowthThatExplainsLittle) {
  const auto grows = [](double noise) {
    Builder builder;
    ShapeArgument argument{.number = 2};
    CaseDraw draw(5);
    for (unsigned octave = 2; octave < 12; ++octave) {
      for (int i = 0; i < 200; ++i) {
        const double cost = 1000 * std::exp2(octave * 0.3) * draw.LogNormal(noise);
        argument.sums.Add(std::uint64_t{1} << octave, static_cast<std::uint64_t>(cost));
        builder.Calls(1, static_cast<std::uint64_t>(cost));
      }
    }
    builder.Input().arguments = {argument};
    return builder.Result().growth.has_value();
  };
  // A variance of (0.3 * 10)^2 / 12 octaves is explained, which equals the noise at 0.6.
  EXPECT_TRUE(grows(0.5));
  EXPECT_FALSE(grows(0.7));
}

TEST(ShapeTest, TheArgumentThatExplainsMostWins) {
  Builder builder;
  ShapeArgument size{.number = 2};
  ShapeArgument half_known{.number = 1};
  ShapeArgument scanned{.number = ShapeArgument::kScanValue};
  CaseDraw draw(6);
  for (int i = 0; i < 2000; ++i) {
    const double octave = draw.Uniform(0, 12);
    const auto cost = static_cast<std::uint64_t>(100 * std::exp2(octave));
    builder.Calls(1, cost);
    size.sums.Add(static_cast<std::uint64_t>(std::exp2(octave)), cost);
    half_known.sums.Add(static_cast<std::uint64_t>(std::exp2(octave + 2 * draw.Normal() + 6)),
                        cost);
    scanned.sums.Add(10, cost);
  }
  for (int turn = 0; turn < 3; ++turn) {
    builder.Input().arguments = {half_known, size, scanned};
    std::rotate(builder.Input().arguments.begin(), builder.Input().arguments.begin() + turn,
                builder.Input().arguments.end());
    EXPECT_EQ(builder.Result().growth->argument, 2U);
  }
  builder.Input().arguments = {half_known};
  EXPECT_EQ(builder.Result().growth->argument, 1U);
  size.number = ShapeArgument::kScanValue;
  builder.Input().arguments = {size};
  EXPECT_THAT(Sentence(builder.Result()), HasSubstr("grows with the scanned value, ~n^1.0"));
}

// Compares with the definition: the maximum of the minimum means of all runs of buckets around
// each.
TEST(ShapeTest, TheMonotoneFitIsTheBestThereIs) {
  std::mt19937_64 random(7);
  int compared = 0;
  for (int i = 0; i < 2000; ++i) {
    ShapeInput input;
    ShapeArgument argument{.number = 1};
    for (unsigned slot = 1; slot < 12; ++slot) {
      for (std::uint64_t calls = 10 + random() % 90; calls > 0; --calls) {
        argument.sums.Add(std::uint64_t{1} << slot, (50U << slot) + random() % (200U << slot));
      }
    }
    input.arguments = {argument};
    input.cost = RandomHistogram(random, 400);
    if (i % 2 == 0)
      std::swap(input.arguments[0].sums.by_bucket[4],
                input.arguments[0].sums.by_bucket[3 + random() % 5]);
    const ShapeResult result = ClassifyShape(input);
    if (!result.growth) continue;
    ++compared;
    const auto& points = result.growth->points;
    const auto mean = [&](std::size_t from, std::size_t to) {
      double sum = 0;
      double calls = 0;
      for (std::size_t k = from; k <= to; ++k) {
        sum += points[k].octaves * static_cast<double>(points[k].calls);
        calls += static_cast<double>(points[k].calls);
      }
      return sum / calls;
    };
    for (std::size_t at = 0; at < points.size(); ++at) {
      double best = 0;
      for (std::size_t from = 0; from <= at; ++from) {
        double least = mean(from, at);
        for (std::size_t to = at; to < points.size(); ++to) least = std::min(least, mean(from, to));
        best = std::max(best, least);
      }
      ASSERT_NEAR(points[at].fitted_octaves, best, 1e-9);
    }
  }
  EXPECT_GT(compared, 500);
}

TEST(ShapeTest, TwoPeaksComeWithTheirEvidence) {
  const ShapeResult result = Builder().Calls(300, 200).Calls(10, 1000).Calls(100, 5000).Result();
  ASSERT_EQ(result.shape, Shape::kBimodal);
  EXPECT_EQ(result.peaks->cheap_slot, 8U);
  EXPECT_EQ(result.peaks->dear_slot, 13U);
  EXPECT_EQ(result.peaks->cheap_calls, 300U);
  EXPECT_EQ(result.peaks->dear_calls, 100U);
  EXPECT_EQ(result.peaks->valley_calls, 0U);
  EXPECT_NEAR(result.peaks->dear_share, 110.0 / 410, 1e-9);
  EXPECT_EQ(Sentence(result), "bimodal, 27 % of calls cost ~32 x the others");
}

TEST(ShapeTest, TwoPeaksNeedDistanceCallsAndAValley) {
  const auto is_bimodal = [](Builder builder) { return builder.Result().shape == Shape::kBimodal; };
  EXPECT_TRUE(is_bimodal(Builder().Calls(300, 300).Calls(100, 1300)));
  EXPECT_FALSE(is_bimodal(Builder().Calls(300, 300).Calls(100, 600)));  // neighbours
  EXPECT_TRUE(is_bimodal(Builder().Calls(200, 300).Calls(30, 1300)));
  EXPECT_FALSE(is_bimodal(Builder().Calls(200, 300).Calls(29, 1300)));
  EXPECT_FALSE(is_bimodal(Builder().Calls(2000, 300).Calls(99, 1300)));  // below 5 %
  EXPECT_TRUE(is_bimodal(Builder().Calls(200, 300).Calls(40, 600).Calls(100, 1300)));
  EXPECT_FALSE(is_bimodal(Builder().Calls(2000, 300).Calls(505, 600).Calls(1000, 1300)));
  EXPECT_FALSE(is_bimodal(Builder().Calls(50, 300).Calls(20, 600).Calls(50, 1300)));  // chance
}

TEST(ShapeTest, ReportsTheTwoPeaksWhoseLowerOneIsHighest) {
  const ShapeResult result = Builder().Calls(400, 300).Calls(300, 5000).Calls(100, 80'000).Result();
  ASSERT_TRUE(result.peaks);
  EXPECT_EQ(result.peaks->cheap_calls, 400U);
  EXPECT_EQ(result.peaks->dear_calls, 300U);
}

// Clocks step by up to 10 ns.
TEST(ShapeTest, ClockStepsAreNotPeaks) {
  EXPECT_EQ(Builder().Calls(500, 0).Calls(500, 10).Result().shape, Shape::kConstant);
  EXPECT_EQ(Builder().Calls(500, 10).Calls(500, 40).Result().shape, Shape::kVaried);
  EXPECT_EQ(Builder().Calls(500, 0).Calls(60, 40).Calls(500, 100).Result().shape, Shape::kVaried);
  EXPECT_EQ(Builder().Calls(500, 10).Calls(500, 150).Result().shape, Shape::kBimodal);
}

TEST(ShapeTest, TailsAndConstantsAreWhatTheirQuantilesSay) {
  const ShapeResult heavy = Builder().Calls(980, 1000).Calls(20, 40'000).Result();
  EXPECT_EQ(heavy.shape, Shape::kHeavyTailed);
  EXPECT_EQ(Sentence(heavy), "heavy-tailed, 1 % of calls cost 40 x the median or more");
  EXPECT_EQ(Builder().Calls(980, 1000).Calls(20, 15'000).Result().shape, Shape::kVaried);
  EXPECT_EQ(Builder().Calls(980, 1000).Calls(20, 1990).Result().shape, Shape::kConstant);
  EXPECT_EQ(Builder().Calls(980, 1000).Calls(20, 2100).Result().shape, Shape::kVaried);
  EXPECT_EQ(Builder().Calls(800, 1000).Calls(200, 1400).Result().shape, Shape::kConstant);
  EXPECT_EQ(Builder().Calls(800, 1000).Calls(200, 1600).Result().shape, Shape::kVaried);
}

TEST(ShapeTest, StartUpComesWithItsEvidence) {
  const ShapeResult result = Builder().FirstCalls(3, 300'000).Calls(997, 1500).Result();
  EXPECT_EQ(result.shape, Shape::kConstant);
  ASSERT_TRUE(result.start_up);
  EXPECT_EQ(result.start_up->processes, 3U);
  EXPECT_EQ(result.start_up->cheapest_first_ns, 262'144U);
  EXPECT_NEAR(result.start_up->rest_ns, 1500, 10);
  EXPECT_NEAR(result.start_up->ratio, 262'144.0 / 1500, 2);
  EXPECT_THAT(Sentence(result), HasSubstr("start-up >= 17"));
  EXPECT_THAT(Sentence(result), HasSubstr(" x, then constant"));
}

TEST(ShapeTest, StartUpNeedsThreeProcessesARatioAndTwentyMicroseconds) {
  const auto starts_up = [](Builder builder) { return builder.Result().start_up.has_value(); };
  EXPECT_FALSE(starts_up(Builder().FirstCalls(2, 300'000).Calls(997, 1500)));
  EXPECT_TRUE(starts_up(Builder().FirstCalls(3, 300'000).Calls(997, 32'000)));
  EXPECT_FALSE(starts_up(Builder().FirstCalls(3, 300'000).Calls(997, 33'000)));  // 262,144 / 8
  EXPECT_TRUE(starts_up(Builder().FirstCalls(3, 33'000).Calls(997, 500)));
  EXPECT_FALSE(starts_up(Builder().FirstCalls(3, 32'000).Calls(997, 500)));  // from 16,384 on
  EXPECT_FALSE(starts_up(Builder().FirstCalls(1, 32'000).FirstCalls(9, 300'000).Calls(997, 500)));
  EXPECT_FALSE(starts_up(Builder().FirstCalls(3, 300'000).Calls(980, 500).Calls(20, 400'000)));
  EXPECT_FALSE(starts_up(Builder().FirstCalls(5, 300'000).Calls(95, 500)));  // 95 others
  Builder unknown_first;
  unknown_first.FirstCalls(3, 300'000).Calls(997, 1500).Input().processes = 4;
  EXPECT_FALSE(starts_up(unknown_first));
}

// One call in twenty is a process's first; without these, the others are constant.
TEST(ShapeTest, AfterAStartUpTheShapeIsThatOfTheOtherCalls) {
  EXPECT_EQ(Builder().FirstCalls(50, 900'000).Calls(950, 1500).Result().shape, Shape::kConstant);
  // A start-up cannot be detected with fewer than three processes; then nothing is constant,
  // either.
  for (const int processes : {1, 2}) {
    const auto of_first = [processes](std::uint64_t ns) {
      return Builder().FirstCalls(processes, ns).Calls(950, 1500).Result();
    };
    EXPECT_EQ(of_first(9'900'000).shape, Shape::kTooFewRuns);
    EXPECT_EQ(of_first(1500).shape, Shape::kTooFewRuns);
    EXPECT_EQ(Sentence(of_first(1500)), "too few runs");
  }
  EXPECT_EQ(Builder().Calls(50, 900'000).Calls(950, 1500).Result().shape, Shape::kBimodal);
}

TEST(ShapeTest, ReportsBytesOfFirstCallsOnly) {
  Builder builder;
  builder.FirstCalls(3, 1500).Calls(997, 1500);
  EXPECT_FALSE(builder.Result().allocates_at_first_only);
  builder.Input().first_call_bytes = 4096;
  EXPECT_TRUE(builder.Result().allocates_at_first_only);
  EXPECT_EQ(Sentence(builder.Result()), "constant; allocates in first calls only");
  builder.Input().other_bytes = 1;
  EXPECT_FALSE(builder.Result().allocates_at_first_only);
  builder.Input().other_bytes = 0;
  builder.Input().processes = 2;
  EXPECT_FALSE(builder.Result().allocates_at_first_only);
}

TEST(ShapeTest, WordsAreStable) {
  EXPECT_EQ(Name(Shape::kTooFewCalls), "too_few_calls");
  EXPECT_EQ(Name(Shape::kGrows), "grows");
  EXPECT_EQ(Name(Shape::kBimodal), "bimodal");
  EXPECT_EQ(Name(Shape::kHeavyTailed), "heavy_tailed");
  EXPECT_EQ(Name(Shape::kConstant), "constant");
  EXPECT_EQ(Name(Shape::kTooFewRuns), "too_few_runs");
  EXPECT_EQ(Name(Shape::kVaried), "varied");
}

TEST(ShapeTest, ImpossibleSumsCountAsNone) {
  Builder growing;
  growing.Growing(1, 50, 4, {100, 200, 400, 800, 1600});
  growing.Input().arguments[0].sums.by_bucket[9].sum_squares = 0;
  ASSERT_TRUE(growing.Result().growth);
  EXPECT_EQ(growing.Result().growth->points.size(), 4U);

  Builder starting;
  starting.FirstCalls(3, 300'000).Calls(992, 1500).Calls(5, 20'000'000);
  ASSERT_TRUE(starting.Result().start_up);
  Builder damaged = starting;
  damaged.Input().first_calls.SetBucket(25, {.count = 0, .sum = 100, .sum_of_squares = 0});
  EXPECT_FALSE(damaged.Result().start_up);
  damaged = starting;
  damaged.Input().log_cost.sum_squares = 0;
  EXPECT_FALSE(damaged.Result().start_up);

  Builder whole;
  whole.Calls(1000, 1500);
  whole.Input().cost.SetBucket(20, {.count = 1, .sum = 0, .sum_of_squares = 0});
  EXPECT_EQ(whole.Result().shape, Shape::kTooFewCalls);
}

// Arbitrary bits, and, more often, sums in which one value contradicts the others.
TEST(ShapeTest, InconsistentSumsAreSafe) {
  std::mt19937_64 random(8);
  const auto any = [&]() -> std::uint64_t {
    return random() % 4 == 0 ? 0 : random() >> (random() % 64);
  };
  int claimed = 0;
  for (int i = 0; i < 3000; ++i) {
    ShapeInput input =
        i % 2 == 0 ? ShapeInput{} : Simulate(HeldOutCases()[random() % 20], 0, random());
    for (std::uint64_t damages = 1 + random() % 3; damages > 0; --damages) {
      const auto slot = static_cast<unsigned>(random() % shm::kBucketSlots);
      const Bucket bucket{any(), MakeUint128(any(), any()), MakeUint128(any(), any())};
      const LogSums sums{any(), any(), any()};
      switch (random() % 7) {
        case 0:
          input.cost.SetBucket(slot, bucket);
          break;
        case 1:
          input.log_cost = sums;
          break;
        case 2:
          input.first_calls.SetBucket(slot, bucket);
          break;
        case 3:
          input.processes = any();
          break;
        case 4:
          input.arguments.resize(1 + random() % 3);
          break;
        case 5:
          input.arguments.resize(1);
          for (unsigned k = slot / 2; k < slot; ++k)
            input.arguments[0].sums.by_bucket[k] = {any(), any(), any()};
          break;
        default:
          input.cost.SetUntimed(any());
          break;
      }
    }
    const ShapeResult result = ClassifyShape(input);
    ASSERT_FALSE(Sentence(result).empty());
    ASSERT_EQ(result.growth.has_value(), result.shape == Shape::kGrows);
    ASSERT_EQ(result.peaks.has_value(), result.shape == Shape::kBimodal);
    if (result.shape != Shape::kTooFewCalls) ++claimed;
    if (result.growth) {
      ASSERT_TRUE(std::isfinite(result.growth->exponent));
      ASSERT_THAT(result.growth->r_squared, AllOf(Ge(0.8), Le(1.0)));
      ASSERT_THAT(result.growth->explained, AllOf(Ge(0.5), Le(1.0)));
    }
    ASSERT_TRUE(!result.start_up || std::isfinite(result.start_up->ratio));
  }
  EXPECT_GT(claimed, 300) << "or nothing was tried";
  EXPECT_EQ(ClassifyShape({}).shape, Shape::kTooFewCalls);
}

}  // namespace
}  // namespace fieldcost::stats
