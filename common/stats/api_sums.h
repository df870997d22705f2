#pragma once

#include "common/stats/stat_row.h"

namespace fieldcost::stats {

struct ApiSums;
QuarterScalars FullestQuarterOf(const ApiSums& sums);

// The sums of one API in one metric over some of its rows (versions, hardware classes, weeks): a
// StatRow without its key.
struct ApiSums {
  CostHistogram histogram{};
  ContributionScalars scalars{};
  AgentWeights weights{};
  BoundedSums bounded{};
  // Taken from the row whose fullest quarter has the most machines. Not a sum, since several rows
  // may have the same machines.
  QuarterScalars fullest_quarter{};

  // Adds the sums of a row, or others.
  template <typename Sums>
  void Merge(const Sums& other) {
    histogram.Merge(other.histogram);
    scalars.Merge(other.scalars);
    weights.Merge(other.weights);
    bounded.Merge(other.bounded);
    const QuarterScalars week = FullestQuarterOf(other);
    if (week.scalars.contributions > fullest_quarter.scalars.contributions) fullest_quarter = week;
  }
};

inline QuarterScalars FullestQuarterOf(const ApiSums& sums) { return sums.fullest_quarter; }

}  // namespace fieldcost::stats
