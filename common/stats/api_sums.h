#pragma once

#include "common/stats/stat_row.h"

namespace fieldcost::stats {

struct ApiSums;
WeekScalars FullestWeekOf(const ApiSums& sums);

// The sums of one API in one metric over some of its rows (versions, hardware classes, weeks): a
// StatRow without its key.
struct ApiSums {
  CostHistogram histogram{};
  ContributionScalars scalars{};
  AgentWeights weights{};
  BoundedSums bounded{};
  // Taken from the row whose fullest quarter has the most machines. Not a sum, since several rows
  // may have the same machines.
  WeekScalars fullest_week{};

  // Adds the sums of a row, or others.
  template <typename Sums>
  void Merge(const Sums& other) {
    histogram.Merge(other.histogram);
    scalars.Merge(other.scalars);
    weights.Merge(other.weights);
    bounded.Merge(other.bounded);
    const WeekScalars week = FullestWeekOf(other);
    if (week.scalars.contributions > fullest_week.scalars.contributions) fullest_week = week;
  }
};

inline WeekScalars FullestWeekOf(const ApiSums& sums) { return sums.fullest_week; }

}  // namespace fieldcost::stats
