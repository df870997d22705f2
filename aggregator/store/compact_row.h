#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/stats/contribution.h"
#include "common/stats/cost_histogram.h"

namespace fieldcost::store {

struct CompactBucket {
  std::uint8_t slot = 0;  // as in common/shm/log2_bucket.h
  stats::Bucket sums;
  bool operator==(const CompactBucket&) const = default;
};

// The sums of one row without the empty buckets: about 48 bytes a bucket instead of 3 KiB a row.
// Adds to the same bits as stats::CostHistogram. A plain value; not thread-safe.
struct CompactRow {
  stats::ContributionScalars scalars;
  std::vector<CompactBucket> buckets;  // ascending by slot, each with a count
  bool saturated = false;              // a count or sum reached its type's limit and stayed there
  bool operator==(const CompactRow&) const = default;

  void Clear();
  void Add(const CompactRow& other);
  // Takes `other`, which was added before, away again; a bucket that becomes empty is gone, so that
  // the result has the bits of a row to which it never came. kCorrupt, and no change, unless every
  // sum of `other` is at most ours and what is left is possible. Numbers that have reached their
  // limit stay there: of a saturated row only the scalars are taken away.
  Status Subtract(const CompactRow& other);
  // Replaces the buckets by those of `histogram`.
  void SetHistogram(const stats::CostHistogram& histogram);
  // The dense form. It does not carry `saturated`.
  stats::CostHistogram ToHistogram() const;
  // Memory held, itself included.
  std::size_t MemoryBytes() const;
};

}  // namespace fieldcost::store
