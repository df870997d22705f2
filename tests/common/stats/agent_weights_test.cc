#include "common/stats/agent_weights.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

#include "common/stats/quantiles.h"
#include "tests/common/stats/random_histogram.h"

namespace fieldcost::stats {
namespace {

CostHistogram Values(std::initializer_list<std::pair<std::uint64_t, unsigned>> values_and_counts) {
  CostHistogram histogram;
  for (const auto& [value, count] : values_and_counts) {
    for (unsigned i = 0; i < count; ++i) histogram.Add(value);
  }
  return histogram;
}

// The combined sums of several contributions.
struct Sums {
  CostHistogram histogram;
  AgentWeights weights;
  std::uint64_t contributions = 0;

  void Add(const CostHistogram& contribution) {
    histogram.Merge(contribution);
    weights.Merge(WeightsOf(contribution));
    ++contributions;
  }
};

TEST(AgentWeightsTest, SharesAreRoundedDownAndTheRestGoesToTheLargestRemainders) {
  // 2^32 / 3 = 1431655765 + 1/3: the remaining unit goes to the lowest of equal remainders.
  const AgentWeights thirds = WeightsOf(Values({{1, 1}, {2, 1}, {4, 1}}));
  EXPECT_EQ(Low64(thirds.slots[1]), 1431655766U);
  EXPECT_EQ(Low64(thirds.slots[2]), 1431655765U);
  EXPECT_EQ(Low64(thirds.slots[3]), 1431655765U);
  // 2/3 has the larger remainder although 1/3 comes first.
  const AgentWeights uneven = WeightsOf(Values({{1, 1}, {2, 2}}));
  EXPECT_EQ(Low64(uneven.slots[1]), 1431655765U);
  EXPECT_EQ(Low64(uneven.slots[2]), 2863311531U);
  EXPECT_EQ(WeightsOf(CostHistogram()), AgentWeights());
}

TEST(AgentWeightsTest, EveryContributionAddsExactlyOneHoweverManyCallsItHas) {
  std::mt19937_64 random(21);
  for (int i = 0; i < 3000; ++i) {
    CostHistogram histogram = RandomHistogram(random, 200, 64);
    for (unsigned slot = 0; slot < shm::kBucketSlots; ++slot) {  // counts of every size
      Bucket bucket = histogram.bucket(slot);
      if (bucket.count != 0 && random() % 4 == 0) bucket.count = (random() >> (random() % 64)) | 1;
      histogram.SetBucket(slot, bucket);
    }
    if (histogram.empty()) continue;
    const AgentWeights weights = WeightsOf(histogram);
    ASSERT_TRUE(weights.Total() == kWeightOne);
    ASSERT_TRUE(Validate(weights, histogram, 1).has_value());
    Uint128 calls = 0;
    for (unsigned slot = 0; slot < shm::kBucketSlots; ++slot) calls += histogram.bucket(slot).count;
    for (unsigned slot = 0; slot < shm::kBucketSlots; ++slot) {
      const Uint128 exact = Uint128{histogram.bucket(slot).count} << kWeightBits;
      const Uint128 down = exact / calls;
      ASSERT_TRUE(weights.slots[slot] == down || weights.slots[slot] == down + 1);
      if (exact % calls == 0) {
        ASSERT_TRUE(weights.slots[slot] == down);
      }
    }
  }
}

TEST(AgentWeightsTest, CountsWithoutTheirSlotsAreSplitAsWithThem) {
  std::mt19937_64 random(23);
  for (int i = 0; i < 20'000; ++i) {
    const std::size_t size = random() % (shm::kBucketSlots + 1);
    const unsigned shift = static_cast<unsigned>(random() % 64);
    std::vector<std::uint64_t> counts(size);
    std::array<Uint128, shm::kBucketSlots> amounts{};
    for (std::size_t k = 0; k < size; ++k) {
      counts[k] = random() % 4 == 0 ? 1 + random() % 3 : random() >> shift;
      amounts[k] = counts[k];
    }
    std::vector<std::uint64_t> shares(size);
    ApportionCounts(counts, kWeightOne, shares);
    const auto expected = Apportion(amounts, kWeightOne);
    ASSERT_TRUE(std::equal(shares.begin(), shares.end(), expected.begin()));
  }
}

TEST(AgentWeightsTest, CallsInTheSameProportionsWeighTheSame) {
  const AgentWeights few = WeightsOf(Values({{10, 3}, {100, 1}}));
  EXPECT_EQ(few, WeightsOf(Values({{10, 3000}, {100, 1000}})));
  EXPECT_EQ(Low64(few.slots[shm::SlotOf(10)]), kWeightOne / 4 * 3);
}

TEST(AgentWeightsTest, AddingInAnyOrderAndGroupingGivesTheSameBits) {
  std::mt19937_64 random(22);
  for (int i = 0; i < 100; ++i) {
    std::vector<AgentWeights> parts(12);
    for (AgentWeights& part : parts) part = WeightsOf(RandomHistogram(random));
    AgentWeights forward;
    for (const AgentWeights& part : parts) forward.Merge(part);
    std::shuffle(parts.begin(), parts.end(), random);
    AgentWeights groups[2];
    for (std::size_t k = 0; k < parts.size(); ++k) groups[k % 2].Merge(parts[k]);
    groups[1].Merge(groups[0]);
    ASSERT_EQ(groups[1], forward);
  }
}

TEST(AgentWeightsTest, SumsOfContributionsAreValidAndCounted) {
  std::mt19937_64 random(23);
  for (int i = 0; i < 100; ++i) {
    Sums sums;
    for (int k = 0; k < 20; ++k) {
      const CostHistogram histogram = RandomHistogram(random);
      if (!histogram.empty()) sums.Add(histogram);
    }
    sums.histogram.Merge(RandomHistogram(random));  // later batches add calls but no weight
    ASSERT_EQ(sums.weights.Contributions(), sums.contributions);
    ASSERT_TRUE(Validate(sums.weights, sums.histogram, sums.contributions).has_value());
    ASSERT_FALSE(Validate(sums.weights, sums.histogram, sums.contributions + 5).has_value());
    ASSERT_TRUE(Validate(AgentWeights(), sums.histogram, sums.contributions).has_value());
  }
}

TEST(AgentWeightsTest, RefusesImpossibleWeights) {
  const CostHistogram histogram = Values({{10, 3}, {100, 1}});
  const unsigned used = shm::SlotOf(10);
  const std::vector<std::function<void(AgentWeights&)>> spoilers = {
      [&](auto& weights) { ++weights.slots[used]; },
      [&](auto& weights) { --weights.slots[used]; },
      [&](auto& weights) { weights.slots[used] += kWeightOne; },
      [&](auto& weights) { weights.slots[used] += Uint128{1} << 127; },
      [&](auto& weights) { std::swap(weights.slots[used], weights.slots[used + 1]); },
      [&](auto& weights) { weights.slots[used] = weights.slots[shm::SlotOf(100)] = ~Uint128{0}; },
  };
  for (std::size_t i = 0; i < spoilers.size(); ++i) {
    AgentWeights weights = WeightsOf(histogram);
    ASSERT_TRUE(Validate(weights, histogram, 1).has_value());
    spoilers[i](weights);
    const Status status = Validate(weights, histogram, 1);
    ASSERT_FALSE(status.has_value()) << i;
    EXPECT_EQ(status.error().code, ErrorCode::kCorrupt);
  }
  EXPECT_FALSE(Validate(WeightsOf(histogram), histogram, 0).has_value());
}

TEST(ApportionTest, PartsAddUpExactlyAndPartsInProportionStayAsTheyAre) {
  std::mt19937_64 random(24);
  for (int i = 0; i < 1000; ++i) {
    std::array<Uint128, shm::kBucketSlots> amounts{};
    for (Uint128& amount : amounts) {
      if (random() % 3 == 0) amount = Uint128{random() >> (random() % 64)} << (random() % 25);
    }
    amounts[random() % amounts.size()] += 1;
    const auto shares = Apportion(amounts, 65536);
    ASSERT_EQ(std::accumulate(shares.begin(), shares.end(), std::uint64_t{0}), 65536U);
    const std::uint64_t scale = random() >> 20;
    for (std::size_t slot = 0; slot < amounts.size(); ++slot) {
      amounts[slot] = Uint128{shares[slot]} * (scale + 1);
    }
    ASSERT_EQ(Apportion(amounts, 65536), shares);
  }
}

TEST(ApportionDeathTest, CountsWithoutAShareEachAreABug) {
  const std::vector<std::uint64_t> counts = {1, 2};
  std::vector<std::uint64_t> shares(1);
  EXPECT_DEATH(ApportionCounts(counts, 65536, shares), "shares.size");
}

TEST(WeightedQuantileTest, OneHeavyCallerMovesTheTypicalCallButNotTheTypicalMachine) {
  Sums sums;
  for (unsigned machine = 0; machine < 99; ++machine) sums.Add(Values({{100 + machine / 4, 10}}));
  CostHistogram heavy;
  heavy.SetBucket(shm::SlotOf(1'000'000),
                  {.count = 1'000'000,
                   .sum = Uint128{1'000'000} * 1'000'000,
                   .sum_of_squares = Uint128{1'000'000'000'000} * 1'000'000});
  sums.Add(heavy);
  ASSERT_TRUE(Validate(sums.histogram).has_value());
  EXPECT_EQ(EstimateQuantile(sums.histogram, 0.5).estimate, 1'000'000);
  for (const double q : {0.01, 0.5, 0.95, 0.98}) {
    const Quantile machine = EstimateWeightedQuantile(sums.histogram, sums.weights, q);
    EXPECT_EQ(machine.low, 64) << q;
    EXPECT_EQ(machine.high, 127) << q;
  }
  EXPECT_NEAR(EstimateWeightedQuantile(sums.histogram, sums.weights, 0.5).estimate, 112, 2);
  EXPECT_EQ(EstimateWeightedQuantile(sums.histogram, sums.weights, 0.995).estimate, 1'000'000);
}

TEST(WeightedQuantileTest, OneContributionGivesTheQuantilesOfItsCalls) {
  std::mt19937_64 random(25);
  for (int i = 0; i < 200; ++i) {
    const CostHistogram histogram = RandomHistogram(random, 300);
    if (histogram.empty()) continue;
    for (const double part : {0.0, 0.25, 0.5, 0.77, 0.95, 0.999}) {
      // The middle of a call's weight, where rounding to 2^-32 does not matter.
      const auto calls = static_cast<double>(histogram.count());
      const double q = (std::floor(part * calls) + 0.5) / calls;
      const Quantile call = EstimateQuantile(histogram, q);
      const Quantile machine = EstimateWeightedQuantile(histogram, WeightsOf(histogram), q);
      ASSERT_LE(machine.low, call.estimate);
      ASSERT_GE(machine.high, call.estimate);
    }
  }
}

TEST(WeightedQuantileTest, TheIntervalHoldsTheQuantileOfTheWeightedValues) {
  std::mt19937_64 random(26);
  for (int i = 0; i < 100; ++i) {
    Sums sums;
    std::vector<std::pair<std::uint64_t, double>> values;  // with their weights
    for (int machine = 0; machine < 16; ++machine) {
      const unsigned calls = 1U << (random() % 9);  // powers of two: exact in binary
      CostHistogram histogram;
      for (unsigned call = 0; call < calls; ++call) {
        values.emplace_back(random() >> (20 + random() % 30), 1.0 / (16.0 * calls));
        histogram.Add(values.back().first);
      }
      sums.Add(histogram);
    }
    std::sort(values.begin(), values.end());
    for (const double q : {0.125, 0.5, 0.75, 0.96875}) {
      double reached = 0;
      const auto place = std::find_if(values.begin(), values.end(), [&](const auto& value) {
        reached += value.second;
        return reached >= q;
      });
      ASSERT_NE(place, values.end());
      const Quantile quantile = EstimateWeightedQuantile(sums.histogram, sums.weights, q);
      ASSERT_LE(quantile.low, static_cast<double>(place->first));
      ASSERT_GE(quantile.high, static_cast<double>(place->first));
      ASSERT_LE(quantile.low, quantile.estimate);
      ASSERT_GE(quantile.high, quantile.estimate);
    }
  }
}

TEST(WeightedQuantileTest, WithoutWeightsThereIsNone) {
  const Quantile none = EstimateWeightedQuantile(Values({{10, 3}}), AgentWeights(), 0.5);
  EXPECT_EQ(none.estimate, 0);
  EXPECT_EQ(none.high, 0);
}

}  // namespace
}  // namespace fieldcost::stats
