#pragma once

#include <vector>

#include "common/stats/contribution_sizes.h"
#include "common/stats/stat_row.h"

namespace fieldcost::testing {

// The row as published if all of its contributions are equal, with their weights and bounded sums.
inline stats::StatRow AsPublished(stats::StatRow row) {
  const stats::AgentWeights one = stats::WeightsOf(row.histogram);
  const std::uint64_t contributions = row.scalars.contributions;
  for (unsigned slot = 0; slot < shm::kBucketSlots; ++slot) {
    row.weights.slots[slot] = one.slots[slot] * contributions;
  }
  row.bounded = {
      .contributions = contributions, .calls = row.histogram.count(), .sum = row.histogram.sum()};
  if (row.key.week == 0) row.fullest_quarter = {.week = 2900, .scalars = row.scalars};
  return row;
}

// `count` calls of `value` each.
inline stats::CostHistogram Calls(std::uint64_t count, std::uint64_t value) {
  stats::CostHistogram histogram;
  const stats::Uint128 sum = stats::Uint128{count} * value;
  histogram.SetBucket(shm::SlotOf(value), {count, sum, sum * value});
  return histogram;
}

// The row as published with these contributions, all in one week.
inline stats::StatRow PublishedRow(const stats::RowKey& key,
                                   const std::vector<stats::CostHistogram>& contributions) {
  stats::StatRow row{.key = key};
  stats::ContributionSizes sizes;
  for (const stats::CostHistogram& one : contributions) {
    row.histogram.Merge(one);
    row.scalars.Merge(stats::ScalarsOf(one));
    row.weights.Merge(stats::WeightsOf(one));
    sizes.Merge(stats::SizesOf(one));
  }
  row.bounded = sizes.Bounded();
  if (key.week == 0) row.fullest_quarter = {.week = 2900, .scalars = row.scalars};
  return row;
}

// Five machines make about ten calls of 50 ns; a sixth claims 2^40 calls of 1 ms.
inline stats::StatRow RowWithOneLiar(stats::RowKey key) {
  return PublishedRow(key, {Calls(10, 50), Calls(12, 50), Calls(9, 50), Calls(11, 50),
                            Calls(10, 50), Calls(std::uint64_t{1} << 40, 1'000'000)});
}

}  // namespace fieldcost::testing
