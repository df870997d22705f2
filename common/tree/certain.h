#pragma once

#include <vector>

#include "common/stats/welch.h"
#include "common/tree/compare.h"

namespace fieldcost::tree {

// Before and after.
struct TwoSides {
  stats::Moments before;
  stats::Moments after;
  double difference() const { return after.mean - before.mean; }
};

// All that the tests need, [path id], without the common factor.
struct Observed {
  std::vector<TwoSides> self;
  std::vector<TwoSides> inclusive;
  double per_sample = 0;
};

// Sets all members of `comparison` but the dictionary, which it has, and the factor. REQUIRES: as
// many values as paths.
void FindCertain(const Observed& observed, const CompareOptions& options, Comparison& comparison);

}  // namespace fieldcost::tree
