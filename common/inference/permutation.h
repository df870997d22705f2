#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "common/shm/log2_bucket.h"
#include "common/stats/cost_histogram.h"

namespace fieldcost::inference {

inline constexpr std::uint32_t kPermutations = 9999;
inline constexpr std::uint64_t kMostExactCalls = 50;
inline constexpr std::uint64_t kMostCountedCalls = std::uint64_t{1} << 60;  // of each side

using BucketCounts = std::array<std::uint64_t, shm::kBucketSlots>;  // slots as in CostHistogram

// The calls of one API, mine and the field's. The tests below check whether mine cost more than
// calls drawn at random from both together. Only buckets are compared, so a permutation of the
// calls is a draw from a multivariate hypergeometric distribution. All tests are one-sided ("mine
// cost more"). Pure functions, thread-safe.
struct CallCounts {
  BucketCounts mine{};
  BucketCounts field{};
};
// Returns as many calls as were timed, distributed among buckets like all calls. While a side has
// more than kMostCountedCalls calls, each of its buckets is halved, rounding down, so that all sums
// fit 128 bits. This does not make the tests stricter.
CallCounts CountsOf(const stats::CostHistogram& mine, const stats::CostHistogram& field);

// The value summed over my calls: the bucket (whose mean is a logarithm of the geometric mean), or
// the rank among all calls, where ties get their mean rank (Wilcoxon, Mann and Whitney).
enum class Score { kBucket, kRank };

// How a p value was computed.
enum class Method {
  kNone,    // p is 1: one side has no calls
  kExact,   // every permutation counted
  kDrawn,   // (b + 1) / (m + 1)
  kNormal,  // below 10 / (m + 1), where too few draws reach my sum
};

struct PValue {
  double p = 1;  // in (0, 1]
  Method method = Method::kNone;
};

struct CallTest {
  PValue by_bucket;
  PValue by_rank;
  std::uint64_t seed = 0;  // of the draws: a hash of the counts, exclusive-or `salt`
};

// Runs both tests. Each is exact if I have at most kMostExactCalls calls and ExactPValue()
// succeeds. Otherwise p = (b + 1) / (m + 1), where b of m = `permutations` random permutations have
// at least my sum (Phipson and Smyth 2010). If that is below 10 / (m + 1), p is NormalPValue(), but
// at most 10 / (m + 1). Takes up to a few milliseconds, or little if the sides differ so much that
// Bernstein's inequality gives b. A different `salt` draws different permutations. REQUIRES: no
// side has more than kMostCountedCalls calls; permutations >= 10.
CallTest TestCalls(const CallCounts& calls, std::uint32_t permutations = kPermutations,
                   std::uint64_t salt = 0);

// The 64-bit FNV-1a hash of all counts, mine first, each as 8 bytes in little-endian order.
std::uint64_t SeedOf(const CallCounts& calls);

// Uses the normal distribution with the permutations' mean and variance (including ties), and a
// continuity correction of half a bucket or half a rank. 1 if a side is empty or all calls are in
// one bucket. REQUIRES: no side has more than kMostCountedCalls calls.
double NormalPValue(const CallCounts& calls, Score score);

// Counts all permutations, by dynamic programming over buckets, remaining calls and sum. nullopt if
// I have more than kMostExactCalls calls, or if the scores have too many different sums, such as
// ranks among thousands of calls. REQUIRES: as above.
std::optional<double> ExactPValue(const CallCounts& calls, Score score);

// The number of `permutations` random permutations that have at least my sum. Equal arguments give
// equal results, with the same version of Boost: its normal variates are used for large counts.
struct Exceedances {
  std::uint32_t by_bucket = 0;
  std::uint32_t by_rank = 0;
};
Exceedances DrawPermutations(const CallCounts& calls, std::uint32_t permutations,
                             std::uint64_t seed);

}  // namespace fieldcost::inference
