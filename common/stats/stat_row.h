#pragma once

#include "common/stats/agent_weights.h"
#include "common/stats/api_key.h"
#include "common/stats/bounded_sums.h"
#include "common/stats/contribution.h"
#include "common/stats/cost_histogram.h"
#include "common/stats/quarter_scalars.h"

namespace fieldcost::stats {

// The data for one row key: in a batch the sums of one agent, in the store those of all agents.
struct StatRow {
  RowKey key;
  CostHistogram histogram;
  ContributionScalars scalars;
  AgentWeights weights{};  // of the contributions, or none
  BoundedSums bounded{};   // likewise
  // The fullest of a row over all weeks (key.week == 0), as far as it may be published.
  QuarterScalars fullest_quarter{};
  bool operator==(const StatRow&) const = default;
};

// The fullest quarter of the row; that of the row itself if it is of a single one.
inline QuarterScalars FullestQuarterOf(const StatRow& row) {
  return row.key.week == 0 ? row.fullest_quarter : QuarterScalars{row.key.week, row.scalars};
}

}  // namespace fieldcost::stats
