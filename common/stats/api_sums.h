#pragma once

#include "common/stats/stat_row.h"

namespace fieldcost::stats {

// The sums of one API in one metric over some of its rows (versions, hardware classes, weeks): a
// StatRow without its key.
struct ApiSums {
  CostHistogram histogram{};
  ContributionScalars scalars{};
  AgentWeights weights{};
  BoundedSums bounded{};

  // Adds the sums of a row, or others.
  template <typename Sums>
  void Merge(const Sums& other) {
    histogram.Merge(other.histogram);
    scalars.Merge(other.scalars);
    weights.Merge(other.weights);
    bounded.Merge(other.bounded);
  }
};

}  // namespace fieldcost::stats
