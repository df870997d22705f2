#pragma once

#include "common/stats/agent_weights.h"
#include "common/stats/api_key.h"
#include "common/stats/bounded_sums.h"
#include "common/stats/contribution.h"
#include "common/stats/cost_histogram.h"

namespace fieldcost::stats {

// What is known about one row key: in a batch the sums of one agent, in the store those of all.
struct StatRow {
  RowKey key;
  CostHistogram histogram;
  ContributionScalars scalars;
  AgentWeights weights{};  // of some or all of the contributions
  BoundedSums bounded{};   // likewise
  bool operator==(const StatRow&) const = default;
};

}  // namespace fieldcost::stats
