#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/stats/agent_weights.h"
#include "common/stats/contribution.h"
#include "common/stats/contribution_sizes.h"
#include "common/stats/cost_histogram.h"

namespace fieldcost::store {

// A bucket's sums, and its part of the row's stats::AgentWeights.
class CompactBucket {
 public:
  CompactBucket() = default;
  // REQUIRES, also for set_weight(): weight <= kMaxWeight.
  CompactBucket(std::uint8_t slot_number, const stats::Bucket& bucket, stats::Uint128 weight = 0)
      : slot(slot_number), sums(bucket) {
    set_weight(weight);
  }

  // At most 2^64 contributions of 2^32 each.
  static constexpr stats::Uint128 kMaxWeight = (stats::Uint128{1} << 96) - 1;
  stats::Uint128 weight() const { return stats::MakeUint128(weight_high_, weight_low_); }
  void set_weight(stats::Uint128 weight) {
    weight_high_ = static_cast<std::uint32_t>(stats::High64(weight));
    weight_low_ = stats::Low64(weight);
  }

  bool operator==(const CompactBucket&) const = default;

  std::uint8_t slot = 0;  // as in common/shm/log2_bucket.h

 private:
  std::uint32_t weight_high_ = 0;
  std::uint64_t weight_low_ = 0;

 public:
  stats::Bucket sums;
};
static_assert(sizeof(CompactBucket) == 64, "the weight takes what would be padding");

// A view of a row's sums, which must outlive it.
struct RowSums {
  const stats::ContributionScalars* scalars = nullptr;
  std::span<const CompactBucket> buckets;    // as in CompactRow
  std::span<const stats::SizeBucket> sizes;  // as in CompactRow
  std::uint64_t untimed = 0;                 // part of the buckets' counts: stats::CostHistogram
  bool saturated = false;
};

// The sums of one row without the empty buckets: 64 bytes per bucket instead of 4 KiB per row.
// Gives the same bits as stats::CostHistogram and stats::AgentWeights. A plain value; not
// thread-safe.
struct CompactRow {
  stats::ContributionScalars scalars;
  std::vector<CompactBucket> buckets;  // ascending by slot, each with a count
  stats::ContributionSizes sizes;      // of some or all of the contributions, like the weights
  std::uint64_t untimed = 0;           // part of the buckets' counts: stats::CostHistogram
  bool saturated = false;              // a count or sum reached its type's limit and stayed there
  bool operator==(const CompactRow&) const = default;

  RowSums view() const {
    return {.scalars = &scalars,
            .buckets = buckets,
            .sizes = sizes.buckets,
            .untimed = untimed,
            .saturated = saturated};
  }

  void Clear();
  void Add(const RowSums& other);
  void Add(const CompactRow& other) { Add(other.view()); }
  // Subtracts `other`, which was added before. Buckets that become empty are removed, so the result
  // has the bits of a row to which `other` was never added. kCorrupt, without a change, unless
  // every sum of `other` is at most ours and the remainder is possible. Saturated numbers stay at
  // their limit: from a saturated row, only scalars, weights and sizes are subtracted.
  Status Subtract(const CompactRow& other);
  // Replaces the buckets by those of `histogram`, without weights.
  void SetHistogram(const stats::CostHistogram& histogram);
  // Sets the buckets' weights. REQUIRES: they are valid for the buckets.
  void SetWeights(const stats::AgentWeights& weights);
  // The dense form. It does not carry `saturated`.
  stats::CostHistogram ToHistogram() const;
  stats::AgentWeights ToWeights() const;
  // Memory in bytes, including this object.
  std::size_t MemoryBytes() const;
};

}  // namespace fieldcost::store
