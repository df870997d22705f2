#pragma once

#include <optional>
#include <vector>

#include "common/inference/welch.h"
#include "common/tree/compare_trees.h"

namespace fieldcost::tree {

// A value before and after.
struct TwoSides {
  inference::Moments before;
  inference::Moments after;
  double difference() const { return after.mean - before.mean; }
};

// Indexed by path id.
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

// Sets all members of `comparison` except the dictionary, the factor and its p, which the caller
// has set. REQUIRES: as many values as paths.
void FindCertain(const Observed& observed, const CompareOptions& options, Comparison& comparison);

}  // namespace fieldcost::tree
