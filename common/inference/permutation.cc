#include "common/inference/permutation.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "common/base/check.h"
#include "common/inference/hypergeometric.h"
#include "common/inference/tails.h"
#include "common/shm/mix.h"
#include "common/stats/agent_weights.h"
#include "common/stats/uint128.h"

namespace fieldcost::inference {
namespace {

constexpr std::uint32_t kFewExceedances = 10;
constexpr std::uint64_t kMostExactSums = 4096;
constexpr double kCertain = 40;  // e^-40: one of 9,999 draws exceeds it once in 10^13 reports
constexpr double kSmallestP = std::numeric_limits<double>::min();

// A non-empty bucket. Its rank is doubled, since only twice the mean rank is an integer.
struct Pooled {
  std::uint64_t slot;
  std::uint64_t mine;
  std::uint64_t calls;  // of both sides
  std::uint64_t doubled_rank;
};

struct Pool {
  std::vector<Pooled> buckets;  // cheapest first
  std::uint64_t mine = 0;
  std::uint64_t calls = 0;
};

stats::Uint128 TotalOf(const BucketCounts& counts) {
  stats::Uint128 total = 0;
  for (const std::uint64_t count : counts) total += count;
  return total;
}

Pool PoolOf(const CallCounts& calls) {
  FIELDCOST_CHECK(TotalOf(calls.mine) <= kMostCountedCalls);
  FIELDCOST_CHECK(TotalOf(calls.field) <= kMostCountedCalls);
  Pool pool;
  for (unsigned slot = 0; slot < shm::kBucketSlots; ++slot) {
    const std::uint64_t both = calls.mine[slot] + calls.field[slot];
    if (both == 0) continue;
    pool.buckets.push_back({.slot = slot,
                            .mine = calls.mine[slot],
                            .calls = both,
                            .doubled_rank = 2 * pool.calls + both + 1});
    pool.mine += calls.mine[slot];
    pool.calls += both;
  }
  return pool;
}

bool NothingToCompare(const Pool& pool) {
  return pool.buckets.size() < 2 || pool.mine == 0 || pool.mine == pool.calls;
}

std::uint64_t ScoreOf(const Pooled& bucket, Score score) {
  return score == Score::kBucket ? bucket.slot : bucket.doubled_rank;
}

double Lifted(double p) { return std::clamp(p, kSmallestP, 1.0); }

// My sum minus its mean over all permutations, in half units of the score.
double DoubledExcess(const Pool& pool, Score score) {
  const std::uint64_t field = pool.calls - pool.mine;
  if (score == Score::kRank) {
    stats::Int128 excess = 0;
    for (const Pooled& bucket : pool.buckets) {
      excess += stats::Int128{bucket.mine} *
                (stats::Int128{bucket.doubled_rank} - stats::Int128{pool.calls} - 1);
    }
    return static_cast<double>(excess);
  }
  stats::Int128 excess = 0;  // times all calls; below 2^126
  for (const Pooled& bucket : pool.buckets) {
    excess += (stats::Int128{field} * bucket.mine -
               stats::Int128{pool.mine} * (bucket.calls - bucket.mine)) *
              static_cast<stats::Int128>(bucket.slot);
  }
  return 2 * static_cast<double>(excess) / static_cast<double>(pool.calls);
}

// The mean square of the scores' distances from their mean, with distances in half units.
double DoubledSpread(const Pool& pool, Score score) {
  const auto calls = static_cast<double>(pool.calls);
  double mean = 0;
  for (const Pooled& bucket : pool.buckets) {
    mean += static_cast<double>(bucket.calls) / calls * static_cast<double>(bucket.slot);
  }
  double spread = 0;
  for (const Pooled& bucket : pool.buckets) {
    const double distance = score == Score::kRank
                                ? static_cast<double>(stats::Int128{bucket.doubled_rank} -
                                                      stats::Int128{pool.calls} - 1)
                                : 2 * (static_cast<double>(bucket.slot) - mean);
    spread += static_cast<double>(bucket.calls) / calls * distance * distance;
  }
  return spread;
}

// Returns 0 or `permutations` if Bernstein's inequality shows without draws that practically none
// or all of them have at least my sum; otherwise nullopt. The inequality also holds for draws
// without replacement (Hoeffding 1963, theorem 4). It is applied to the smaller side.
std::optional<std::uint32_t> Foreseen(const Pool& pool, Score score, std::uint32_t permutations) {
  const auto mine = static_cast<double>(pool.mine);
  const auto field = static_cast<double>(pool.calls - pool.mine);
  const double excess = DoubledExcess(pool, score);
  const double distance = std::abs(excess) / std::min(mine, field);
  // A score is at most this far from the mean.
  const double reach = (score == Score::kBucket ? 2.0 : 1.0) *
                       static_cast<double>(ScoreOf(pool.buckets.back(), score) -
                                           ScoreOf(pool.buckets.front(), score));
  const double exponent = std::min(mine, field) * distance * distance /
                          (2 * DoubledSpread(pool, score) + reach * distance * (2.0 / 3));
  if (!(exponent > kCertain)) return std::nullopt;
  return excess > 0 ? 0 : permutations;
}

PValue Judge(const CallCounts& calls, Score score, std::uint32_t exceedances,
             std::uint32_t permutations) {
  const double all = static_cast<double>(permutations) + 1;
  const double drawn = (static_cast<double>(exceedances) + 1) / all;
  if (exceedances + 1 >= kFewExceedances) return {.p = drawn, .method = Method::kDrawn};
  return {.p = std::min(NormalPValue(calls, score), kFewExceedances / all),
          .method = Method::kNormal};
}

void Halve(BucketCounts& counts) {
  while (TotalOf(counts) > kMostCountedCalls) {
    for (std::uint64_t& count : counts) count /= 2;
  }
}

// As many calls as were timed, distributed among buckets like all calls.
BucketCounts TimedCounts(const stats::CostHistogram& histogram) {
  BucketCounts counts{};
  histogram.ForEachUsed(
      [&](unsigned slot, const stats::Bucket& bucket) { counts[slot] = bucket.count; });
  if (histogram.untimed() == 0) return counts;
  std::array<stats::Uint128, shm::kBucketSlots> amounts;
  std::copy(counts.begin(), counts.end(), amounts.begin());
  return stats::Apportion(amounts, histogram.timed());
}

}  // namespace

CallCounts CountsOf(const stats::CostHistogram& mine, const stats::CostHistogram& field) {
  CallCounts calls{.mine = TimedCounts(mine), .field = TimedCounts(field)};
  Halve(calls.mine);
  Halve(calls.field);
  return calls;
}

std::uint64_t SeedOf(const CallCounts& calls) {
  std::uint64_t hash = shm::kEmptyHash;
  for (const BucketCounts* counts : {&calls.mine, &calls.field}) {
    for (const std::uint64_t count : *counts) hash = shm::HashNumber(count, hash);
  }
  return hash;
}

double NormalPValue(const CallCounts& calls, Score score) {
  const Pool pool = PoolOf(calls);
  if (NothingToCompare(pool)) return 1;
  const auto mine = static_cast<double>(pool.mine);
  const auto field = static_cast<double>(pool.calls - pool.mine);
  const double variance =
      mine * field / (static_cast<double>(pool.calls) - 1) * DoubledSpread(pool, score);
  return Lifted(NormalUpperTail((DoubledExcess(pool, score) - 1) / std::sqrt(variance)));
}

std::optional<double> ExactPValue(const CallCounts& calls, Score score) {
  const Pool pool = PoolOf(calls);
  if (NothingToCompare(pool)) return 1;
  if (pool.mine > kMostExactCalls) return std::nullopt;
  // Shifts the scores to begin at 0 and uses the coarsest unit, to have as few different sums as
  // possible.
  const std::uint64_t lowest = ScoreOf(pool.buckets.front(), score);
  std::uint64_t unit = 0;
  for (const Pooled& b : pool.buckets) unit = std::gcd(unit, ScoreOf(b, score) - lowest);
  FIELDCOST_CHECK(unit > 0);  // at least two buckets, and both scores increase with the bucket
  const auto mine = static_cast<std::size_t>(pool.mine);
  const std::uint64_t highest = (ScoreOf(pool.buckets.back(), score) - lowest) / unit;
  if (highest > kMostExactSums / mine) return std::nullopt;
  const std::size_t sums = mine * highest + 1;
  // reached[left][sum]: the probability that `left` of my calls are in the remaining buckets and
  // the calls before them have this sum.
  std::vector<std::vector<double>> reached(mine + 1, std::vector<double>(sums, 0));
  reached[mine][0] = 1;
  std::uint64_t calls_left = pool.calls;
  std::uint64_t observed = 0;
  HypergeometricTable table;
  for (const Pooled& bucket : pool.buckets) {
    const std::size_t step = (ScoreOf(bucket, score) - lowest) / unit;
    observed += step * bucket.mine;
    // In ascending order, so that each state is read before anything is added to it.
    for (std::size_t left = 0; left <= mine; ++left) {
      if (left > calls_left) break;  // not reached
      table.Build({.population = calls_left, .marked = bucket.calls, .drawn = left}, 0);
      const std::vector<double> before = std::exchange(reached[left], std::vector<double>(sums, 0));
      const std::size_t most = std::min(sums, (mine - left) * step + 1);
      for (std::size_t i = 0; i < table.probabilities().size(); ++i) {
        const double p = table.probabilities()[i];
        const auto here = static_cast<std::size_t>(table.first()) + i;
        std::vector<double>& after = reached[left - here];
        for (std::size_t sum = 0; sum < most; ++sum) after[sum + here * step] += p * before[sum];
      }
    }
    calls_left -= bucket.calls;
  }
  // Smallest terms first.
  const auto tail = reached[0].begin() + static_cast<std::ptrdiff_t>(observed);
  return Lifted(std::accumulate(std::make_reverse_iterator(reached[0].end()),
                                std::make_reverse_iterator(tail), 0.0));
}

Exceedances DrawPermutations(const CallCounts& calls, std::uint32_t permutations,
                             std::uint64_t seed) {
  Pool pool = PoolOf(calls);
  stats::Uint128 my_slots = 0;
  stats::Uint128 my_ranks = 0;
  for (const Pooled& bucket : pool.buckets) {
    my_slots += stats::Uint128{bucket.mine} * bucket.slot;
    my_ranks += stats::Uint128{bucket.mine} * bucket.doubled_rank;
  }
  // Fullest first, so that soon little is left to draw. Ties: cheapest first, for reproducible
  // bits.
  std::ranges::stable_sort(pool.buckets, std::ranges::greater(), &Pooled::calls);
  std::vector<std::uint64_t> left(permutations, pool.mine);
  std::vector<std::uint64_t> here(permutations);
  std::vector<stats::Uint128> slots(permutations, 0);
  std::vector<stats::Uint128> ranks(permutations, 0);
  HypergeometricSampler sampler(seed);
  std::uint64_t calls_left = pool.calls;
  // Bucket by bucket, so that the draws share its tables.
  for (const Pooled& bucket : pool.buckets) {
    sampler.Reset(calls_left, bucket.calls);
    sampler.Draw(left, here);
    for (std::size_t i = 0; i < permutations; ++i) {
      left[i] -= here[i];
      slots[i] += stats::Uint128{here[i]} * bucket.slot;
      ranks[i] += stats::Uint128{here[i]} * bucket.doubled_rank;
    }
    calls_left -= bucket.calls;
  }
  Exceedances exceedances;
  for (std::size_t i = 0; i < permutations; ++i) {
    if (slots[i] >= my_slots) ++exceedances.by_bucket;
    if (ranks[i] >= my_ranks) ++exceedances.by_rank;
  }
  return exceedances;
}

CallTest TestCalls(const CallCounts& calls, std::uint32_t permutations, std::uint64_t salt) {
  FIELDCOST_CHECK(permutations >= kFewExceedances);
  const Pool pool = PoolOf(calls);
  CallTest test;
  test.seed = SeedOf(calls) ^ salt;
  if (pool.mine == 0 || pool.mine == pool.calls) return test;
  const std::optional<double> by_bucket = ExactPValue(calls, Score::kBucket);
  const std::optional<double> by_rank = ExactPValue(calls, Score::kRank);
  if (by_bucket) test.by_bucket = {.p = *by_bucket, .method = Method::kExact};
  if (by_rank) test.by_rank = {.p = *by_rank, .method = Method::kExact};
  if (by_bucket && by_rank) return test;
  const auto slots = Foreseen(pool, Score::kBucket, permutations);
  const auto ranks = Foreseen(pool, Score::kRank, permutations);
  const Exceedances found = slots && ranks ? Exceedances{.by_bucket = *slots, .by_rank = *ranks}
                                           : DrawPermutations(calls, permutations, test.seed);
  if (!by_bucket) test.by_bucket = Judge(calls, Score::kBucket, found.by_bucket, permutations);
  if (!by_rank) test.by_rank = Judge(calls, Score::kRank, found.by_rank, permutations);
  return test;
}

}  // namespace fieldcost::inference
