#pragma once

#include <cstdint>

#include "common/base/result.h"
#include "common/stats/cost_histogram.h"
#include "common/stats/uint128.h"

namespace fieldcost::stats {

// The total calls and costs of the contributions to a row, each counted only up to a cap of 16
// times what is usual among them (ContributionSizes::Bounded()): no contribution can change these
// by more than the cap. They contain only first contributions, so they are less than the row's
// totals even where nothing exceeds the cap. Those of several rows may be added. A plain value.
struct BoundedSums {
  std::uint64_t contributions = 0;
  std::uint64_t calls = 0;
  Uint128 sum = 0;  // unit of the metric
  bool operator==(const BoundedSums&) const = default;

  // Adds; numbers saturate.
  void Merge(const BoundedSums& other);
  // Mean of a call, for display only; 0 without calls.
  double Mean() const;
};

// The sums of one machine with this single contribution: nothing exceeds the cap. Zero if empty.
BoundedSums BoundedSumsOf(const CostHistogram& histogram);

// kCorrupt unless there are none, or they can be those of the `contributions` to this (valid)
// histogram: at least a call for each, and no more of anything than there is.
Status Validate(const BoundedSums& untrusted_sums, const CostHistogram& histogram,
                std::uint64_t contributions);

}  // namespace fieldcost::stats
