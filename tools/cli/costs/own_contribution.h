#pragma once

#include <cstdint>
#include <vector>

#include "agent/volunteer/agent.h"
#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/stats/stat_row.h"

namespace fieldcost::cli {

// This machine's contribution to the published sums.
struct OwnContribution {
  std::vector<stats::StatRow> rows;  // ascending by key, without weights
  // Batches sent in time that cannot be taken out: their bytes are no longer kept, or the service
  // refused some of their rows and this machine does not know which.
  std::uint64_t batches_unknown = 0;
};

// The rows of `metric` in all batches that the service had acknowledged when the snapshot was
// published, each with the scalars that the service added for it: those of the row's first batch.
Result<OwnContribution> ReadOwnContribution(const volunteer::Agent& agent, stats::Metric metric,
                                            WallTime published);

}  // namespace fieldcost::cli
