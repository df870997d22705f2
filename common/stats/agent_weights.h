#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "common/base/result.h"
#include "common/stats/cost_histogram.h"
#include "common/stats/uint128.h"

namespace fieldcost::stats {

inline constexpr unsigned kWeightBits = 32;  // of a weight's fraction
inline constexpr std::uint64_t kWeightOne = std::uint64_t{1} << kWeightBits;

// The distribution of costs with all contributions weighted equally, however many calls each has:
// for each bucket, the sum over contributions of the share of their calls in that bucket, in fixed
// point Q32. A contribution adds exactly 1 (2^32) over all buckets. Integers only, hence additive,
// removable and the same bits in any order and on every machine. Slots as in CostHistogram. A plain
// value of about 1 KiB; not thread-safe.
struct AgentWeights {
  std::array<Uint128, shm::kBucketSlots> slots{};
  bool operator==(const AgentWeights&) const = default;

  // Adds. REQUIRES, for a meaningful result: both are valid. Sums wrap, they never trap.
  void Merge(const AgentWeights& other);
  Uint128 Total() const;
  // How many contributions have been added.
  std::uint64_t Contributions() const;
};

// Splits `parts` in proportion to `amounts`: each slot gets its part rounded down, and the
// largest remainders get one more each, the lowest slots first among equal ones. The parts add up
// exactly; all are zero if the amounts are. REQUIRES: the amounts' sum times `parts` is below
// 2^128.
std::array<std::uint64_t, shm::kBucketSlots> Apportion(
    const std::array<Uint128, shm::kBucketSlots>& amounts, std::uint64_t parts);

// The same of amounts without their slots, in the order of these. REQUIRES: as many shares; at most
// kBucketSlots.
void ApportionCounts(std::span<const std::uint64_t> counts, std::uint64_t parts,
                     std::span<std::uint64_t> shares);

// The weights of one contribution: 2^32 split in proportion to its counts; none if it is empty.
AgentWeights WeightsOf(const CostHistogram& histogram);

// kCorrupt unless there are none, or they can be those of the `contributions` to this (valid)
// histogram: 1 for each, in buckets with values only.
Status Validate(const AgentWeights& untrusted_weights, const CostHistogram& histogram,
                std::uint64_t contributions);

}  // namespace fieldcost::stats
