#pragma once

#include <cstdint>
#include <vector>

#include "agent/daemon/agent.h"
#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/stats/stat_row.h"

namespace fieldcost::cli {

// What the published sums hold of this machine's own.
struct OwnContribution {
  std::vector<stats::StatRow> rows;  // ascending by key, weights left out
  // Sent in time, but not to be taken out: their bytes are no longer kept, or the service refused
  // some of their rows and it is not known here which.
  std::uint64_t batches_unknown = 0;
};

// The rows of `metric` in all batches that the service had acknowledged when the snapshot was
// published, with the scalars that it has added for them: those of a row's first batch.
Result<OwnContribution> ReadOwnContribution(const agent::Agent& agent, stats::Metric metric,
                                            WallTime published);

}  // namespace fieldcost::cli
