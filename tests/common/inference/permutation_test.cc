#include "common/inference/permutation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/common/inference/golden_calls.h"
#include "tests/common/stats/random_histogram.h"

namespace fieldcost::inference {
namespace {

CallCounts RandomCalls(std::mt19937_64& random, unsigned mine, unsigned field) {
  return CountsOf(stats::RandomHistogram(random, mine, 20),
                  stats::RandomHistogram(random, field, 20));
}

std::uint64_t Total(const BucketCounts& counts) {
  std::uint64_t total = 0;
  for (const std::uint64_t count : counts) total += count;
  return total;
}

bool HasBoth(const CallCounts& calls) { return Total(calls.mine) > 0 && Total(calls.field) > 0; }

TEST(PermutationTest, ExactValuesAreThoseOfScipy) {
  int compared = 0;
  for (const GoldenCase& golden : ReadGoldenCases("calls.txt")) {
    if (!golden.numbers.contains("exact_bucket")) continue;
    EXPECT_NEAR(ExactPValue(golden.Calls(), Score::kBucket).value(),
                golden.numbers.at("exact_bucket"), 1e-12)
        << golden.name;
    EXPECT_NEAR(ExactPValue(golden.Calls(), Score::kRank).value(), golden.numbers.at("exact_rank"),
                1e-12)
        << golden.name;
    EXPECT_EQ(TestCalls(golden.Calls()).by_rank.method, Method::kExact);
    ++compared;
  }
  EXPECT_EQ(compared, 8);
}

TEST(PermutationTest, NormalValuesAreThoseOfScipy) {
  int compared = 0;
  for (const GoldenCase& golden : ReadGoldenCases("calls.txt")) {
    const auto near = [&](Score score, const char* name) {
      const double expected = golden.numbers.at(name);
      EXPECT_NEAR(NormalPValue(golden.Calls(), score) / expected, 1, 1e-8) << golden.name << name;
    };
    near(Score::kBucket, "normal_bucket");
    near(Score::kRank, "normal_rank");
    ++compared;
  }
  EXPECT_EQ(compared, 16);
}

TEST(PermutationTest, DrawnValuesAreThoseOfScipyUpToTheSamplingError) {
  int compared = 0;
  for (const GoldenCase& golden : ReadGoldenCases("calls.txt")) {
    if (!golden.numbers.contains("drawn_bucket")) continue;
    const CallTest test = TestCalls(golden.Calls());
    const auto near = [&](const PValue& value, const char* name) {
      const double p = golden.numbers.at(name);
      EXPECT_EQ(value.method, Method::kDrawn) << golden.name;
      EXPECT_NEAR(value.p, p, 4 * std::sqrt(p * (1 - p) * (1.0 / kPermutations + 1.0 / 49999)))
          << golden.name << name;
    };
    near(test.by_bucket, "drawn_bucket");
    near(test.by_rank, "drawn_rank");
    ++compared;
  }
  EXPECT_EQ(compared, 5);
}

TEST(PermutationTest, DrawsAgreeWithTheExactDistribution) {
  std::mt19937_64 random(21);
  int compared = 0;
  while (compared < 30) {
    const CallCounts calls = RandomCalls(random, 50, 400);
    if (!HasBoth(calls)) continue;
    const double exact = ExactPValue(calls, Score::kBucket).value();
    const double drawn = DrawPermutations(calls, kPermutations, random()).by_bucket;
    EXPECT_NEAR(drawn / kPermutations, exact,
                1e-9 + 4.5 * std::sqrt(exact * (1 - exact) / kPermutations));
    ++compared;
  }
}

TEST(PermutationTest, HugeCountsAreDrawnLikeTheirNormalLimit) {
  for (const int moved : {-100000000, 0, 30000000, 100000000}) {
    CallCounts calls;  // mine are like the field's, except for those moved up
    for (unsigned slot = 5; slot < 15; ++slot) {
      calls.field[slot] = std::uint64_t{1} << (42 + slot);
      calls.mine[slot] = calls.field[slot] / 1024;
    }
    calls.mine[12] -= static_cast<std::uint64_t>(moved);
    calls.mine[14] += static_cast<std::uint64_t>(moved);
    const double normal = NormalPValue(calls, Score::kBucket);
    const double drawn = DrawPermutations(calls, kPermutations, 5).by_bucket;
    EXPECT_NEAR(drawn / kPermutations, normal, 0.022) << moved;
  }
}

TEST(PermutationTest, FarTailsComeFromTheNormalDistribution) {
  for (const GoldenCase& golden : ReadGoldenCases("calls.txt")) {
    const CallTest test = TestCalls(golden.Calls());
    if (golden.name == "normal_far") {
      EXPECT_EQ(test.by_bucket.method, Method::kNormal);
      EXPECT_NEAR(test.by_bucket.p / golden.numbers.at("normal_bucket"), 1, 1e-8);
      EXPECT_NEAR(test.by_rank.p / golden.numbers.at("normal_rank"), 1, 1e-8);
    } else if (golden.name == "normal_below") {
      EXPECT_EQ(test.by_bucket.method, Method::kDrawn);
      EXPECT_EQ(test.by_bucket.p, 1);
    }
  }
}

TEST(PermutationTest, TheShortcutWithoutDrawsAgreesWithDraws) {
  std::mt19937_64 random(22);
  for (int i = 0; i < 40; ++i) {
    CallCounts calls;
    const unsigned shift = i % 2 == 0 ? 0 : 1;  // mine above or below
    for (unsigned slot = 10; slot < 16; ++slot) {
      calls.mine[slot + 1 - shift] = 500 + random() % 500;
      calls.field[slot + shift] = 5000 + random() % 5000;
    }
    const Exceedances drawn = DrawPermutations(calls, kPermutations, random());
    const CallTest test = TestCalls(calls);
    EXPECT_EQ(drawn.by_bucket, shift == 0 ? 0U : kPermutations);
    EXPECT_EQ(test.by_bucket.p, shift == 0 ? NormalPValue(calls, Score::kBucket) : 1);
    EXPECT_EQ(test.by_rank.p, shift == 0 ? NormalPValue(calls, Score::kRank) : 1);
  }
}

TEST(PermutationTest, IsReproducible) {
  std::mt19937_64 random(23);
  for (int i = 0; i < 10; ++i) {
    const CallCounts calls = RandomCalls(random, 300, 900);
    if (!HasBoth(calls)) continue;
    const CallTest first = TestCalls(calls);
    const CallTest again = TestCalls(calls);
    EXPECT_EQ(first.by_bucket.p, again.by_bucket.p);
    EXPECT_EQ(first.by_rank.p, again.by_rank.p);
    EXPECT_EQ(first.seed, again.seed);
  }
}

TEST(PermutationTest, TheSeedIsAHashOfAllCounts) {
  CallCounts calls;
  calls.mine[3] = 7;
  const std::uint64_t mine = SeedOf(calls);
  EXPECT_EQ(mine, 0xc763034c0fd756c2U);
  std::swap(calls.mine, calls.field);
  EXPECT_NE(SeedOf(calls), mine);
  calls.field[64] = std::uint64_t{1} << 59;
  EXPECT_NE(SeedOf(calls), mine);
}

TEST(PermutationTest, PIsAboveZeroAndAtMostOne) {
  std::mt19937_64 random(24);
  for (int i = 0; i < 60; ++i) {
    CallCounts calls = RandomCalls(random, 90, 90);
    const unsigned shift = static_cast<unsigned>(random() % 60);
    for (std::uint64_t& count : calls.mine) count <<= shift % 50;
    if (i % 3 == 0) std::ranges::reverse(calls.mine);
    if (!HasBoth(calls)) continue;
    const CallTest test = TestCalls(calls, 99);
    for (const PValue& value : {test.by_bucket, test.by_rank}) {
      EXPECT_GT(value.p, 0);
      EXPECT_LE(value.p, 1);
      EXPECT_NE(value.method, Method::kNone);
    }
  }
  CallCounts extreme;
  extreme.mine[64] = extreme.field[0] = kMostCountedCalls;
  EXPECT_GT(TestCalls(extreme).by_bucket.p, 0);
  EXPECT_LT(TestCalls(extreme).by_bucket.p, 1e-300);
  std::swap(extreme.mine, extreme.field);
  EXPECT_EQ(TestCalls(extreme).by_rank.p, 1);
}

// Over all possible permutations, p is at most alpha with a probability of at most alpha.
TEST(PermutationTest, ExactPIsAValidP) {
  CallCounts pool;
  pool.field = {0, 6, 5, 4, 0, 3, 2};
  double all = 0;
  double rejected = 0;
  const double alpha = 0.05;
  // All ways of choosing 6 of the 20 calls, each weighted by the number of permutations that it
  // represents.
  const auto choose = [](std::uint64_t n, std::uint64_t k) {
    return std::exp(std::lgamma(static_cast<double>(n + 1)) -
                    std::lgamma(static_cast<double>(k + 1)) -
                    std::lgamma(static_cast<double>(n - k + 1)));
  };
  const auto visit = [&](auto&& self, unsigned slot, std::uint64_t left, double ways,
                         CallCounts calls) -> void {
    if (slot == 7) {
      if (left != 0) return;
      all += ways;
      if (ExactPValue(calls, Score::kRank).value() <= alpha) rejected += ways;
      return;
    }
    for (std::uint64_t here = 0; here <= std::min(left, pool.field[slot]); ++here) {
      calls.mine[slot] = here;
      calls.field[slot] = pool.field[slot] - here;
      self(self, slot + 1, left - here, ways * choose(pool.field[slot], here), calls);
    }
  };
  visit(visit, 0, 6, 1, {});
  EXPECT_NEAR(all, 38760, 1e-6);
  EXPECT_LE(rejected / all, alpha);
  EXPECT_GT(rejected / all, alpha / 2);
}

TEST(PermutationTest, RaisingMyCallsLowersP) {
  CallCounts calls;
  calls.field = {0, 20, 20, 20};
  calls.mine[1] = 10;
  while (calls.mine[1] > 0) {
    CallCounts raised = calls;
    --raised.mine[1];
    ++raised.mine[3];
    for (const Score score : {Score::kBucket, Score::kRank}) {
      EXPECT_LT(ExactPValue(raised, score).value(), ExactPValue(calls, score).value());
      EXPECT_LT(NormalPValue(raised, score), NormalPValue(calls, score));
    }
    calls = raised;
  }
}

TEST(PermutationTest, NoDataIsNoEvidence) {
  CallCounts calls;
  EXPECT_EQ(TestCalls(calls).by_bucket.p, 1);
  EXPECT_EQ(TestCalls(calls).by_bucket.method, Method::kNone);
  calls.mine[4] = 200;
  EXPECT_EQ(TestCalls(calls).by_bucket.method, Method::kNone);
  calls.field[4] = 300;
  EXPECT_EQ(TestCalls(calls).by_bucket.p, 1);
  EXPECT_EQ(TestCalls(calls).by_bucket.method, Method::kExact);
}

TEST(PermutationTest, CountsBeyondTheLimitAreHalved) {
  stats::CostHistogram histogram;
  histogram.SetBucket(4, {.count = ~std::uint64_t{0} - 8, .sum = 0, .sum_of_squares = 0});
  histogram.SetBucket(5, {.count = 64, .sum = 0, .sum_of_squares = 0});
  const CallCounts calls = CountsOf(histogram, histogram);
  EXPECT_LE(Total(calls.mine), kMostCountedCalls);
  EXPECT_EQ(calls.mine[5], 2U);  // by 2^5
  EXPECT_EQ(calls.mine, calls.field);
}

}  // namespace
}  // namespace fieldcost::inference
