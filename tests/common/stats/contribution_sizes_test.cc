#include "common/stats/contribution_sizes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <vector>

#include "common/stats/cost_histogram.h"
#include "tests/common/stats/random_histogram.h"

namespace fieldcost::stats {
namespace {

constexpr std::uint64_t kMost64 = std::numeric_limits<std::uint64_t>::max();

struct Size {
  std::uint64_t calls;
  Uint128 sum;
};

// Several contributions, and what their row contains from others that are not first ones.
struct Sums {
  ContributionSizes sizes;
  Bucket totals;
  std::uint64_t contributions = 0;

  explicit Sums(const std::vector<Size>& contributed) {
    for (const Size& size : contributed) {
      sizes.Add(SizesOf(size.calls, size.sum));
      totals.count += size.calls;
      totals.sum += size.sum;
      ++contributions;
    }
  }
  Status Check() const { return Validate(sizes.buckets, contributions, totals); }
};

std::vector<Size> RandomSizes(std::mt19937_64& random, std::uint64_t most) {
  std::vector<Size> sizes;
  for (auto left = random() % most + 1; left > 0; --left) {
    const std::uint64_t calls = (random() >> (24 + random() % 40)) | 1;
    sizes.push_back({calls, random() % 8 == 0 ? 0 : random() >> (1 + random() % 63)});
  }
  return sizes;
}

TEST(ContributionSizesTest, TheWorkedExample) {
  // Calls 1, 3 and 2,000: the median is in slot 2, so at most 2^6 - 1 = 63 count. Sums 0, 10 and
  // 5,000: the median is in slot 4, so at most 2^8 - 1 = 255 count.
  const Sums sums({{3, 10}, {2000, 5000}, {1, 0}});
  EXPECT_THAT(
      sums.sizes.buckets,
      ::testing::ElementsAre(
          SizeBucket{.kind = SizeKind::kCalls, .slot = 1, .contributions = 1, .total = 1},
          SizeBucket{.kind = SizeKind::kCalls, .slot = 2, .contributions = 1, .total = 3},
          SizeBucket{.kind = SizeKind::kCalls, .slot = 11, .contributions = 1, .total = 2000},
          SizeBucket{.kind = SizeKind::kSum, .slot = 0, .contributions = 1, .total = 0},
          SizeBucket{.kind = SizeKind::kSum, .slot = 4, .contributions = 1, .total = 10},
          SizeBucket{.kind = SizeKind::kSum, .slot = 13, .contributions = 1, .total = 5000}));
  EXPECT_EQ(sums.sizes.Contributions(), 3U);
  EXPECT_EQ(sums.sizes.Bounded(),
            (BoundedSums{.contributions = 3, .calls = 1 + 3 + 63, .sum = 0 + 10 + 255}));
  EXPECT_TRUE(sums.Check());
}

TEST(ContributionSizesTest, OfTwoContributionsTheSmallerDecidesWhatIsUsual) {
  EXPECT_EQ(Sums({{1, 1}, {1'000'000, 1'000'000}}).sizes.Bounded(),
            (BoundedSums{.contributions = 2, .calls = 1 + 31, .sum = 1 + 31}));
}

TEST(ContributionSizesTest, WhereMostCostNothingTheOthersCountFifteenEach) {
  EXPECT_EQ(Sums({{5, 0}, {5, 0}, {5, 0}, {5, 1'000'000}}).sizes.Bounded().sum, Uint128{15});
}

TEST(ContributionSizesTest, AContributionOfItsOwnCountsInFullAndNoneIsNothing) {
  CostHistogram histogram;
  for (const std::uint64_t value : {0, 3, 1'000'000}) histogram.Add(value);
  EXPECT_EQ(BoundedSumsOf(histogram),
            (BoundedSums{.contributions = 1, .calls = 3, .sum = 1'000'003}));
  EXPECT_DOUBLE_EQ(BoundedSumsOf(histogram).Mean(), 1'000'003 / 3.0);
  EXPECT_EQ(SizesOf(CostHistogram()), ContributionSizes());
  EXPECT_EQ(ContributionSizes().Bounded(), BoundedSums());
  EXPECT_EQ(BoundedSums().Mean(), 0);
  EXPECT_TRUE(Validate({}, 0, {}));
}

TEST(ContributionSizesTest, AddingInAnyOrderAndGroupingGivesTheSameBits) {
  std::mt19937_64 random(31);
  for (int round = 0; round < 300; ++round) {
    std::vector<Size> sizes = RandomSizes(random, 40);
    const Sums sums(sizes);
    ASSERT_TRUE(sums.Check()) << sums.Check().error().message;
    ASSERT_TRUE(std::is_sorted(sums.sizes.buckets.begin(), sums.sizes.buckets.end(),
                               [](const auto& a, const auto& b) { return a.IsBefore(b); }));
    std::shuffle(sizes.begin(), sizes.end(), random);
    const auto cut = static_cast<std::ptrdiff_t>(random() % (sizes.size() + 1));
    ContributionSizes both = Sums({sizes.begin(), sizes.begin() + cut}).sizes;
    const Sums other({sizes.begin() + cut, sizes.end()});
    both.Merge(other.sizes);
    ASSERT_EQ(both, sums.sizes);
    ASSERT_TRUE(both.Subtract(other.sizes));
    ASSERT_EQ(both, Sums({sizes.begin(), sizes.begin() + cut}).sizes);
  }
}

TEST(ContributionSizesTest, RefusesToSubtractWhatWasNeverAdded) {
  const ContributionSizes sizes = Sums({{3, 10}, {3, 12}, {40, 0}}).sizes;
  const auto takes = [&](const std::vector<Size>& taken) {
    ContributionSizes left = sizes;
    const bool ok = left.Subtract(Sums(taken).sizes).has_value();
    EXPECT_TRUE(ok || left == sizes);
    return ok;
  };
  EXPECT_TRUE(takes({{3, 10}, {40, 0}}));
  EXPECT_FALSE(takes({{3, 16}}));                    // there is no such sum
  EXPECT_FALSE(takes({{3, 10}, {3, 12}, {3, 12}}));  // more than exist
  EXPECT_FALSE(takes({{2, 15}}));                    // leaves 3 + 3 - 2 = 4 calls for one in 2..3
}

// The sums computed from all individual contributions.
Uint128 SlowBound(std::vector<std::uint64_t> sizes) {
  std::sort(sizes.begin(), sizes.end());
  const unsigned slot = shm::SlotOf(sizes[(sizes.size() - 1) / 2]) + kSizeCapOctaves;
  const std::uint64_t cap = shm::SlotMax(std::min(slot, shm::kBucketSlots - 1));
  Uint128 sum = 0;
  for (const std::uint64_t size : sizes) sum += std::min(size, cap);
  return sum;
}

TEST(ContributionSizesTest, BoundedSumsAreThoseOfTheContributionsOneByOne) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 2000; ++round) {
    const std::vector<Size> sizes = RandomSizes(random, 30);
    std::vector<std::uint64_t> calls;
    std::vector<std::uint64_t> sums;
    for (const Size& size : sizes) {
      calls.push_back(size.calls);
      sums.push_back(Low64(size.sum));
    }
    const Sums all(sizes);
    const BoundedSums bounded = all.sizes.Bounded();
    ASSERT_EQ(bounded.contributions, sizes.size());
    ASSERT_EQ(Uint128{bounded.calls}, SlowBound(calls));
    ASSERT_EQ(bounded.sum, SlowBound(sums));
    ASSERT_LE(bounded.calls, all.totals.count);
    ASSERT_LE(bounded.sum, all.totals.sum);
  }
}

TEST(ContributionSizesTest, SumsBeyond64BitsCountAsTheGreatestOf64) {
  const Sums sums({{1, Uint128{1} << 100}, {1, Uint128{1} << 64}, {1, kMost64}});
  EXPECT_EQ(sums.sizes.buckets.back().slot, 64);
  EXPECT_TRUE(sums.sizes.buckets.back().total == Uint128{kMost64} * 3);
  EXPECT_TRUE(sums.sizes.Bounded().sum == Uint128{kMost64} * 3);
  EXPECT_TRUE(sums.Check());
}

TEST(ContributionSizesTest, SizesThatCannotBeAreRefused) {
  const Sums good({{3, 10}, {2000, 5000}, {1, 0}, {2, 9}});
  ASSERT_TRUE(good.Check());
  // More of anything than the row has.
  Sums sums = good;
  sums.totals.count -= 1;
  EXPECT_FALSE(sums.Check());
  sums = good;
  sums.totals.sum -= 1;
  EXPECT_FALSE(sums.Check());
  // Fewer calls and lower costs than the row has: later batches add to both without contributing.
  sums = good;
  sums.totals.count += 100;
  sums.totals.sum += 1;
  EXPECT_TRUE(sums.Check());

  using Spoil = std::function<void(std::vector<SizeBucket>&)>;
  const std::vector<Spoil> spoils = {
      [](auto& b) { b[0].kind = static_cast<SizeKind>(2); },
      [](auto& b) { b[0].kind = SizeKind::kSum; },
      [](auto& b) { b[0].slot = 0, b[0].total = 0; },
      [](auto& b) { b[2].slot = 65; },
      [](auto& b) { b[2].slot = 12; },
      [](auto& b) { b[0].contributions = 0, b[0].total = 0; },
      [](auto& b) { ++b[0].contributions; },
      [](auto& b) { b[0].contributions += 1, b[0].total += 1; },
      [](auto& b) { --b[1].contributions; },
      [](auto& b) { b[1].total = 3; },
      [](auto& b) { b[1].total = 7; },
      [](auto& b) { b[3].total = 1; },
      [](auto& b) { b[5].total = Uint128{1} << 100; },
      [](auto& b) { b.pop_back(); },
      [](auto& b) { b.push_back(b.back()); },
      [](auto& b) { std::swap(b[0], b[1]); },
      [](auto& b) { b.erase(b.begin(), b.begin() + 3); },
  };
  for (std::size_t i = 0; i < spoils.size(); ++i) {
    sums = good;
    spoils[i](sums.sizes.buckets);
    ASSERT_NE(sums.sizes, good.sizes);
    EXPECT_FALSE(sums.Check()) << "spoil " << i;
  }
}

TEST(ContributionSizesTest, RefusesSizesOfFewerOrMoreContributionsThanTheRowHas) {
  std::mt19937_64 random(43);
  for (int round = 0; round < 300; ++round) {
    const Sums all(RandomSizes(random, 20));
    for (std::uint64_t contributions = 0; contributions <= 25; ++contributions) {
      Sums sums = all;
      sums.contributions = contributions;
      ASSERT_EQ(sums.Check().has_value(), contributions == all.contributions) << contributions;
      sums.sizes = {};  // none at all is possible
      ASSERT_TRUE(sums.Check().has_value()) << contributions;
    }
  }
}

TEST(BoundedSumsTest, RefusesImpossibleBoundedSums) {
  CostHistogram histogram;
  for (const std::uint64_t value : {5, 6, 7}) histogram.Add(value);
  const auto check = [&](BoundedSums sums) { return Validate(sums, histogram, 2).has_value(); };
  EXPECT_TRUE(check({}));
  EXPECT_TRUE(check({.contributions = 2, .calls = 2, .sum = 0}));
  EXPECT_TRUE(check({.contributions = 2, .calls = 3, .sum = 18}));
  EXPECT_FALSE(check({.contributions = 3, .calls = 3, .sum = 18}));
  EXPECT_FALSE(check({.contributions = 1, .calls = 3, .sum = 18}));
  EXPECT_FALSE(check({.contributions = 2, .calls = 1, .sum = 18}));
  EXPECT_FALSE(check({.contributions = 2, .calls = 4, .sum = 18}));
  EXPECT_FALSE(check({.contributions = 2, .calls = 3, .sum = 19}));
  EXPECT_FALSE(check({.contributions = 0, .calls = 1, .sum = 0}));
  EXPECT_FALSE(check({.contributions = 0, .calls = 0, .sum = 1}));
}

TEST(BoundedSumsTest, TheyAddUpAndStopAtTheTop) {
  BoundedSums sums{.contributions = 1, .calls = kMost64 - 1, .sum = 5};
  sums.Merge({.contributions = 2, .calls = 2, .sum = 7});
  EXPECT_EQ(sums, (BoundedSums{.contributions = 3, .calls = kMost64, .sum = 12}));
}

}  // namespace
}  // namespace fieldcost::stats
