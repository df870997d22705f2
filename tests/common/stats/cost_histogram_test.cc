#include "common/stats/cost_histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "tests/common/stats/random_histogram.h"

namespace fieldcost::stats {
namespace {

// The slot of bucket k, [2^k, 2^(k+1)).
constexpr unsigned SlotOfBucket(unsigned k) { return k + 1; }

CostHistogram HistogramOf(const std::vector<std::uint64_t>& values, int times = 1) {
  CostHistogram histogram;
  for (int i = 0; i < times; ++i) {
    for (const std::uint64_t value : values) histogram.Add(value);
  }
  return histogram;
}

// All other buckets are empty; keys are bucket numbers k.
void ExpectCounts(const CostHistogram& histogram,
                  const std::vector<std::pair<unsigned, std::uint64_t>>& expected) {
  std::array<std::uint64_t, shm::kBucketSlots> counts{};
  for (const auto& [k, count] : expected) counts[SlotOfBucket(k)] = count;
  for (unsigned slot = 0; slot < shm::kBucketSlots; ++slot) {
    EXPECT_EQ(histogram.bucket(slot).count, counts[slot]) << "slot " << slot;
  }
}

TEST(CostHistogramTest, WorkedExampleCountsEveryAllocationInItsBucket) {
  const CostHistogram a = HistogramOf({3, 7, 22}, 100);
  ExpectCounts(a, {{1, 100}, {2, 100}, {4, 100}});
  EXPECT_TRUE(a.sum() == 3200);
  EXPECT_TRUE(a.sum_of_squares() == 100 * (9 + 49 + 484));
  ExpectCounts(HistogramOf({107, 120, 115}, 100), {{6, 300}});
  ExpectCounts(HistogramOf({819, 1560, 1800}, 100), {{9, 100}, {10, 200}});
}

TEST(CostHistogramTest, WorkedExampleTimesFallInTwoBuckets) {
  CostHistogram times;
  for (std::uint64_t i = 0; i < 191; ++i) times.Add(20 + i % 12);  // 20..31 cycles
  for (std::uint64_t i = 0; i < 109; ++i) times.Add(32 + i % 9);   // 32..40 cycles
  ExpectCounts(times, {{4, 191}, {5, 109}});
  EXPECT_EQ(times.count(), 300U);
}

TEST(CostHistogramTest, ExactlyTheBucketsThatAreNotAllZeroAreVisited) {
  std::mt19937_64 random(31);
  CostHistogram histogram;
  for (int i = 0; i < 3000; ++i) {
    switch (random() % 5) {
      case 0:
        histogram.SetBucket(static_cast<unsigned>(random() % shm::kBucketSlots), {});
        break;
      case 1:  // invalid, but not empty
        histogram.SetBucket(static_cast<unsigned>(random() % shm::kBucketSlots),
                            {.count = 0, .sum = random() % 2, .sum_of_squares = 0});
        break;
      case 2:
        histogram.Merge(RandomHistogram(random));
        break;
      case 3:
        histogram.Add(random() >> (random() % 64));
        break;
      default:
        if (random() % 8 == 0) {
          histogram.Clear();
          ASSERT_EQ(histogram, CostHistogram());
        }
    }
    std::vector<unsigned> expected;
    Uint128 sum = 0;
    for (unsigned slot = 0; slot < shm::kBucketSlots; ++slot) {
      const bool used = histogram.bucket(slot) != Bucket{};
      ASSERT_EQ(histogram.IsUsed(slot), used);
      if (used) expected.push_back(slot);
      sum += histogram.bucket(slot).sum;
    }
    std::vector<unsigned> found;
    histogram.ForEachUsed([&](unsigned slot, const Bucket& bucket) {
      ASSERT_EQ(&bucket, &histogram.bucket(slot));
      found.push_back(slot);
    });
    ASSERT_EQ(found, expected);
    ASSERT_EQ(histogram.used_count(), expected.size());
    ASSERT_TRUE(histogram.Totals().sum == sum);
  }
}

TEST(CostHistogramTest, MeanAndDeviationFollowFromTheSums) {
  const CostHistogram histogram = HistogramOf({2, 4, 4, 4, 5, 5, 7, 9});
  EXPECT_DOUBLE_EQ(histogram.Mean(), 5);
  EXPECT_DOUBLE_EQ(histogram.StandardDeviation(), 2);
  EXPECT_EQ(CostHistogram().Mean(), 0);
  EXPECT_EQ(CostHistogram().StandardDeviation(), 0);
  EXPECT_TRUE(CostHistogram().empty());
}

TEST(CostHistogramTest, RepresentedValuesCountManyTimesButAreMeasuredOnce) {
  CostHistogram weighted;
  weighted.Add(7, 64);
  weighted.Add(1'000'000'000);
  CostHistogram all;
  for (int i = 0; i < 64; ++i) all.Add(7);
  all.Add(1'000'000'000);
  EXPECT_EQ(weighted.Totals(), all.Totals());
  EXPECT_EQ(weighted.timed(), 2U);
  EXPECT_EQ(all.timed(), 65U);
  all.SetUntimed(63);
  EXPECT_EQ(weighted, all);
  EXPECT_TRUE(Validate(weighted).has_value());
}

TEST(CostHistogramTest, MergesAndSubtractsUntimedCallsLikeAllSums) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 100; ++i) {
    CostHistogram a = RandomHistogram(random);
    CostHistogram b = RandomHistogram(random);
    a.Add(random() >> 20, 1 + random() % 100);
    b.Add(random() >> 20, 1 + random() % 100);
    CostHistogram sum = a;
    sum.Merge(b);
    EXPECT_EQ(sum.untimed(), a.untimed() + b.untimed());
    ASSERT_TRUE(Validate(sum).has_value());
    ASSERT_TRUE(sum.Subtract(b).has_value());
    EXPECT_EQ(sum, a);
  }
  CostHistogram one;
  one.Add(5, 3);
  CostHistogram many;
  for (int i = 0; i < 3; ++i) many.Add(5);
  EXPECT_FALSE(many.Subtract(one)) << "none of them was represented";
  many.Add(5);
  many.SetUntimed(1);
  EXPECT_FALSE(many.Subtract(HistogramOf({5, 5, 5}))) << "leaves one that nothing represents";
}

TEST(CostHistogramTest, AtLeastAValueOfEachUsedBucketWasMeasured) {
  CostHistogram histogram;
  histogram.Add(5, 10);
  histogram.Add(100, 10);
  EXPECT_TRUE(Validate(histogram).has_value());
  for (const std::uint64_t untimed :
       {std::uint64_t{19}, std::uint64_t{20}, std::uint64_t{21}, ~std::uint64_t{0}}) {
    histogram.SetUntimed(untimed);
    EXPECT_EQ(Validate(histogram).error().code, ErrorCode::kCorrupt) << untimed;
  }
}

TEST(CostHistogramTest, AWeightedValueThatIsTooGreatSaturates) {
  CostHistogram histogram;
  histogram.Add(std::uint64_t{1} << 60, 1 << 14);
  EXPECT_TRUE(histogram.saturated());
  EXPECT_FALSE(Validate(histogram).has_value());
}

TEST(CostHistogramDeathTest, AValueWithoutWeightIsABug) {
  CostHistogram histogram;
  EXPECT_DEATH(histogram.Add(5, 0), "weight > 0");
}

TEST(CostHistogramTest, DeviationOfGreatNearlyEqualValuesDoesNotCancel) {
  const std::uint64_t base = std::uint64_t{1} << 62;
  EXPECT_DOUBLE_EQ(HistogramOf({base, base + 2}).StandardDeviation(), 1);
}

TEST(CostHistogramTest, ZeroAndTheGreatestValueHaveTheirOwnBuckets) {
  const CostHistogram histogram = HistogramOf({0, ~std::uint64_t{0}});
  EXPECT_EQ(histogram.bucket(0).count, 1U);
  EXPECT_EQ(histogram.bucket(64).count, 1U);
  EXPECT_TRUE(Validate(histogram).has_value());
}

// Merges [first, last) by splitting it at random places, recursively: a random grouping.
CostHistogram MergeGrouped(std::mt19937_64& random, const CostHistogram* first,
                           const CostHistogram* last) {
  if (last - first == 1) return *first;
  const auto cut =
      1 + static_cast<std::ptrdiff_t>(random() % static_cast<std::uint64_t>(last - first - 1));
  CostHistogram left = MergeGrouped(random, first, first + cut);
  left.Merge(MergeGrouped(random, first + cut, last));
  return left;
}

TEST(CostHistogramTest, MergingInAnyOrderAndGroupingGivesTheSameBits) {
  std::mt19937_64 random(2);
  std::vector<CostHistogram> parts;
  for (int i = 0; i < 1000; ++i) parts.push_back(RandomHistogram(random));
  CostHistogram expected;
  for (const CostHistogram& part : parts) expected.Merge(part);
  ASSERT_FALSE(expected.empty());
  for (int round = 0; round < 20; ++round) {
    std::shuffle(parts.begin(), parts.end(), random);
    ASSERT_EQ(MergeGrouped(random, parts.data(), parts.data() + parts.size()), expected);
  }
}

TEST(CostHistogramTest, MergingEqualsAddingTheValuesThemselves) {
  const CostHistogram whole = HistogramOf({0, 1, 5, 9, 1000, 1001});
  CostHistogram merged = HistogramOf({1001, 9, 0});
  merged.Merge(HistogramOf({1, 1000, 5}));
  EXPECT_EQ(merged, whole);
}

TEST(CostHistogramTest, SaturationIsFlaggedInAnyOrder) {
  CostHistogram nearly;
  nearly.SetBucket(
      1,
      {.count = ~std::uint64_t{0}, .sum = ~std::uint64_t{0}, .sum_of_squares = ~std::uint64_t{0}});
  CostHistogram great = HistogramOf({~std::uint64_t{0}, ~std::uint64_t{0}});
  EXPECT_TRUE(great.saturated());  // two squares of 2^128 - 2^65 + 1
  EXPECT_FALSE(nearly.saturated());
  CostHistogram one = HistogramOf({1});
  CostHistogram forth = nearly;
  forth.Merge(one);
  forth.Merge(great);
  CostHistogram back = great;
  back.Merge(one);
  back.Merge(nearly);
  EXPECT_EQ(forth, back);
  EXPECT_TRUE(forth.saturated());
  EXPECT_EQ(forth.bucket(1).count, ~std::uint64_t{0});
  EXPECT_EQ(Validate(forth).error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(forth.Subtract(one).error().code, ErrorCode::kInvalidArgument);
}

TEST(CostHistogramTest, SubtractUndoesMerge) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 1000; ++i) {
    const CostHistogram a = RandomHistogram(random);
    const CostHistogram b = RandomHistogram(random);
    CostHistogram both = a;
    both.Merge(b);
    ASSERT_TRUE(both.Subtract(b).has_value());
    ASSERT_EQ(both, a);
  }
}

TEST(CostHistogramTest, SubtractingWhatWasNeverAddedChangesNothing) {
  const CostHistogram before = HistogramOf({4, 7});
  CostHistogram histogram = before;
  for (const auto& other : {HistogramOf({9}), HistogramOf({5}), HistogramOf({4, 4, 7})}) {
    // {5}: its sums fit, but the remaining value 6 cannot have the square 40.
    const Status status = histogram.Subtract(other);
    ASSERT_FALSE(status.has_value());
    EXPECT_EQ(status.error().code, ErrorCode::kInvalidArgument);
    EXPECT_EQ(histogram, before);
  }
}

TEST(ValidateTest, EveryHistogramOfRealValuesIsAccepted) {
  std::mt19937_64 random(4);
  for (int i = 0; i < 2000; ++i) {
    const Status status = Validate(RandomHistogram(random, 200, 60));
    ASSERT_TRUE(status.has_value()) << status.error().message;
  }
}

TEST(ValidateTest, EveryBucketOfExtremeValuesIsAccepted) {
  for (unsigned slot = 0; slot < shm::kBucketSlots; ++slot) {
    const std::uint64_t min = shm::SlotMin(slot);
    const std::uint64_t max = shm::SlotMax(slot);
    std::vector<std::vector<std::uint64_t>> cases = {{min}, {max}, {min, (min + (max - min) / 2)}};
    if (slot < 64) cases.insert(cases.end(), {{min, max}, {min, min, max}, {min, max, max}});
    for (const auto& values : cases) {
      const CostHistogram histogram = HistogramOf(values);
      const Status status = ValidateBucket(slot, histogram.bucket(slot));
      EXPECT_TRUE(status.has_value()) << slot << ": " << status.error().message;
    }
  }
}

// An independent, slow statement of the rules: is there a multiset of integers with these sums, as
// far as the linear inequalities can tell? Only for small numbers.
bool InPolytope(unsigned slot, std::int64_t count, std::int64_t sum, std::int64_t squares) {
  const auto min = static_cast<std::int64_t>(shm::SlotMin(slot));
  const auto max = static_cast<std::int64_t>(shm::SlotMax(slot));
  if (count == 0) return sum == 0 && squares == 0;
  if (sum < count * min || sum > count * max) return false;
  for (std::int64_t q = min; q <= max; ++q) {
    if (squares - (2 * q + 1) * sum + count * q * (q + 1) < 0) return false;
  }
  return squares <= (min + max) * sum - count * min * max && (sum + squares) % 2 == 0;
}

TEST(ValidateTest, EverySingleFieldCorruptionThatLeavesThePolytopeIsRefused) {
  std::mt19937_64 random(5);
  int refused = 0;
  int kept = 0;
  for (int i = 0; i < 300; ++i) {
    const CostHistogram histogram = RandomHistogram(random, 30, 10);
    for (unsigned slot = 0; slot <= 10; ++slot) {
      for (int field = 0; field < 3; ++field) {
        for (int change = 0; change < 40; ++change) {
          Bucket bucket = histogram.bucket(slot);
          // Small steps, single bits, and replacement.
          const auto mutate = [&](std::uint64_t value) -> std::uint64_t {
            if (change < 10) return value + static_cast<std::uint64_t>(change) + 1;
            if (change < 20)
              return value > random() % 10 ? value - 1 - random() % value : value + 1;
            if (change < 38) return value ^ (std::uint64_t{1} << (change - 20));
            return random() % 100000;
          };
          if (field == 0) bucket.count = mutate(bucket.count);
          if (field == 1) bucket.sum = mutate(Low64(bucket.sum));
          if (field == 2) bucket.sum_of_squares = mutate(Low64(bucket.sum_of_squares));
          CostHistogram corrupt = histogram;
          corrupt.SetBucket(slot, bucket);
          const bool possible = InPolytope(slot, static_cast<std::int64_t>(bucket.count),
                                           static_cast<std::int64_t>(Low64(bucket.sum)),
                                           static_cast<std::int64_t>(Low64(bucket.sum_of_squares)));
          ASSERT_EQ(Validate(corrupt).has_value(), possible)
              << "slot " << slot << " field " << field << " change " << change;
          ++(possible ? kept : refused);
        }
      }
    }
  }
  EXPECT_GT(refused, 100000);
  EXPECT_GT(kept, 1000);
}

TEST(ValidateTest, WideSumsAreComparedExactly) {
  // Three values in the topmost bucket: the products in the rules need more than 128 bits.
  const std::uint64_t min = shm::SlotMin(64);
  const CostHistogram histogram = HistogramOf({min, min + 5, min + 9});
  ASSERT_FALSE(histogram.saturated());
  const Bucket good = histogram.bucket(64);
  ASSERT_TRUE(ValidateBucket(64, good).has_value());
  const auto refused = [](Bucket bucket) { return !ValidateBucket(64, bucket).has_value(); };
  EXPECT_TRUE(refused({good.count + 1, good.sum, good.sum_of_squares}));
  EXPECT_TRUE(refused({good.count - 1, good.sum, good.sum_of_squares}));
  EXPECT_TRUE(refused({good.count, good.sum + 2, good.sum_of_squares}));
  EXPECT_TRUE(refused({good.count, good.sum, good.sum_of_squares + 1}));  // parity
  // The minimum squares for this sum are those of {+4, +5, +5}.
  const Bucket least = HistogramOf({min + 4, min + 5, min + 5}).bucket(64);
  ASSERT_TRUE(least.sum == good.sum);
  EXPECT_TRUE(ValidateBucket(64, least).has_value());
  EXPECT_TRUE(refused({least.count, least.sum, least.sum_of_squares - 2}));
}

TEST(ValidateTest, TotalsThatOverflowAreRefused) {
  CostHistogram histogram;
  const std::uint64_t half = std::uint64_t{1} << 63;
  histogram.SetBucket(0, {.count = half});
  histogram.SetBucket(1, {.count = half - 1, .sum = half - 1, .sum_of_squares = half - 1});
  EXPECT_TRUE(Validate(histogram).has_value());
  histogram.SetBucket(1, {.count = half, .sum = half, .sum_of_squares = half});
  EXPECT_EQ(Validate(histogram).error().code, ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace fieldcost::stats
