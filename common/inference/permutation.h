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

// The calls of one API, mine and the field's: do mine cost more than calls drawn at random from
// both together? Only buckets are compared, so a permutation of the calls is a draw from a
// multivariate hypergeometric distribution. All tests are one-sided, "mine cost more". Pure
// functions, thread-safe.
struct CallCounts {
  BucketCounts mine{};
  BucketCounts field{};
};
// Counts as many calls as were timed, with the shares of all. A side of more than kMostCountedCalls
// calls is halved, every bucket alike and rounded down, until it has no more, so that all sums fit
// 128 bits. That makes the tests no stricter.
CallCounts CountsOf(const stats::CostHistogram& mine, const stats::CostHistogram& field);

// What is summed over my calls: the bucket (its mean is a logarithm of the geometric mean), or the
// rank among all calls, equal ones sharing the mean rank (Wilcoxon, Mann and Whitney).
enum class Score { kBucket, kRank };

// How a p value was found.
enum class Method {
  kNone,    // one side has no calls: 1
  kExact,   // every permutation counted
  kDrawn,   // (b + 1) / (m + 1)
  kNormal,  // below 10 / (m + 1), where few draws are left to count
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

// Both tests. Exact up to kMostExactCalls of my calls where ExactPValue() is; else
// p = (b + 1) / (m + 1), with b of m = `permutations` random permutations having at least my sum
// (Phipson and Smyth 2010). Where that is below 10 / (m + 1) it is NormalPValue(), or 10 / (m + 1)
// if that is less. Costs up to some milliseconds; little where the sides differ so much that
// Bernstein's inequality tells b. Another `salt` draws other permutations. REQUIRES: no side above
// kMostCountedCalls; permutations >= 10.
CallTest TestCalls(const CallCounts& calls, std::uint32_t permutations = kPermutations,
                   std::uint64_t salt = 0);

// FNV-1a, 64 bits, of all counts, mine first, each as 8 bytes, the lowest first.
std::uint64_t SeedOf(const CallCounts& calls);

// Uses the normal distribution with the permutations' mean and variance, ties included, and a
// continuity correction of half a bucket or half a rank. 1 if a side is empty or all calls are in
// one bucket. REQUIRES: no side above kMostCountedCalls.
double NormalPValue(const CallCounts& calls, Score score);

// Counts all permutations, a dynamic programme over buckets, calls left and sum. nullopt if I
// have more than kMostExactCalls calls, or the scores make too many different sums, as ranks among
// thousands of calls do. REQUIRES: as above.
std::optional<double> ExactPValue(const CallCounts& calls, Score score);

// How many of `permutations` random ones have at least my sum. The same for the same arguments
// (with the same version of Boost, whose normal variates are used for large counts).
struct Exceedances {
  std::uint32_t by_bucket = 0;
  std::uint32_t by_rank = 0;
};
Exceedances DrawPermutations(const CallCounts& calls, std::uint32_t permutations,
                             std::uint64_t seed);

}  // namespace fieldcost::inference
