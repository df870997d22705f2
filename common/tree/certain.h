#pragma once

#include <optional>
#include <vector>

#include "common/inference/welch.h"
#include "common/tree/compare_trees.h"

namespace fieldcost::tree {

// Before and after.
struct TwoSides {
  inference::Moments before;
  inference::Moments after;
  double difference() const { return after.mean - before.mean; }
};

// [path id].
struct PathValues {
  std::vector<TwoSides> self;
  std::vector<TwoSides> inclusive;
};

// The inputs of the tests.
struct Observed {
  PathValues measured;
  // Each run divided by its common factor; nullopt if the runs' own factors are unknown or the
  // metric has none.
  std::optional<PathValues> relative;
  double per_sample = 0;
};

// Sets all members of `comparison` except the dictionary, the factor and its p, which are set
// already. REQUIRES: as many values as paths.
void FindCertain(const Observed& observed, const CompareOptions& options, Comparison& comparison);

}  // namespace fieldcost::tree
