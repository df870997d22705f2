#pragma once

#include <cstdint>

#include "common/base/result.h"
#include "common/stats/cost_histogram.h"
#include "common/stats/uint128.h"

namespace fieldcost::stats {

// What the contributions to a row have called and cost together if each counts only up to a cap, 16
// times what is usual among them (ContributionSizes::Bounded()): whatever one contribution claims,
// it moves these by no more than the cap. Only first contributions are in them, so they are less
// than the row's totals even where nothing exceeds the cap. Adding those of several rows is
// meaningful. A plain value.
struct BoundedSums {
  std::uint64_t contributions = 0;  // these speak of; fewer than ContributionScalars knows where
                                    // some are from before sizes were kept
  std::uint64_t calls = 0;
  Uint128 sum = 0;  // unit of the metric
  bool operator==(const BoundedSums&) const = default;

  // Adds; numbers stop at the greatest of their type.
  void Merge(const BoundedSums& other);
  // Mean of a call, for display only; 0 without calls.
  double Mean() const;
};

// Those of one machine, whose only contribution this is: nothing exceeds the cap. Zero if empty.
BoundedSums BoundedSumsOf(const CostHistogram& histogram);

// kCorrupt unless they can be those of some or all of the `contributions` to this (valid)
// histogram: at least a call for each, and no more of anything than there is.
Status Validate(const BoundedSums& untrusted_sums, const CostHistogram& histogram,
                std::uint64_t contributions);

}  // namespace fieldcost::stats
