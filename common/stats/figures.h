#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "common/stats/api_sums.h"
#include "common/stats/quantiles.h"

namespace fieldcost::stats {

// What readers show, and order by. In published sums anybody may have a part, and one agent may
// claim 2^40 calls in it; so every figure here is bounded: see FIGURES.md for by how much m agents
// among n move it at most. All readers take their figures from here. Pure, thread-safe.

// Whose calls are summed.
enum class Whose {
  kField,  // many agents': figures are those of the typical machine and of bounded sums
  kOwn,    // one machine's own: no other machine is in them, so they are exact
};

// What figures in which every call counts the same may differ by from those that have a bound, to
// be shown next to them.
inline constexpr unsigned kMostTotalRatio = 16;  // of numbers of calls and sums
inline constexpr unsigned kMostCostRatio = 8;    // of a quantile or mean, either way

struct Quantiles {
  Quantile p50;
  Quantile p95;
  Quantile p99;
};

// Every call counts the same, no matter which agent made it.
struct CallFigures {
  Bucket totals;            // exact
  std::uint64_t timed = 0;  // of their count, really measured
  double mean = 0;
  double standard_deviation = 0;
  Quantiles quantiles;
};

// How many parts of each bucket, of all of them together kWeightOne; of the typical machine's
// calls, or of one's own.
using BucketShares = std::array<std::uint64_t, shm::kBucketSlots>;
// Share of one bucket, 0 to 1.
inline double ShareOf(const BucketShares& shares, unsigned slot) {
  return static_cast<double>(shares[slot]) / double{kWeightOne};
}

// How the typical machine's calls are shared among buckets.
inline BucketShares SharesOf(const AgentWeights& weights) {
  return Apportion(weights.slots, kWeightOne);
}

struct Figures {
  Whose whose = Whose::kField;
  std::uint64_t contributions = 0;
  // How many contributions the quantiles and shares are of; 0 = they are not known, or one's own.
  std::uint64_t machines = 0;
  // The typical machine's: every contribution counts the same. One's own: every call.
  std::optional<Quantiles> quantiles;
  std::optional<BucketShares> shares;
  // How many calls, what they cost together and each on average; of the field by BoundedSums.
  std::optional<std::uint64_t> calls;
  std::optional<Uint128> sum;
  std::optional<double> mean;
  // Where they agree with the above (AllCallsAgree), and of one's own.
  std::optional<CallFigures> all_calls;
  // They are left out for this: a few machines made most of these calls.
  bool few_machines = false;
};

Figures FiguresOf(const ApiSums& sums, Whose whose);

// Whether the sums have weights, or bounded sums. Otherwise the figures that are computed from them
// are unknown.
bool KnowsMachines(const ApiSums& sums);
bool KnowsBounds(const ApiSums& sums);

// Whether the figures in which every call counts the same are near those that have a bound: number
// of calls and sum at most kMostTotalRatio times the bounded ones, mean and quantiles within a
// factor of kMostCostRatio of the bounded mean and the typical machine's quantiles (what is below 1
// counts as 1). Otherwise a few machines made most of these calls. False if no bound is known.
bool AllCallsAgree(const ApiSums& sums);

// The scalars for tests among machines: those of the fullest quarter, where each machine is counted
// once; none if no week is known. The variation within machines is a mean over calls: where
// there are more than kMostTotalRatio times the bounded number of calls it is one machine's word,
// and counts as none. The tests then know what machines differ by, and nothing else.
ContributionScalars ScalarsForTests(const ApiSums& sums);

}  // namespace fieldcost::stats
