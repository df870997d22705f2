#pragma once

#include "common/shm/log2_bucket.h"
#include "common/stats/agent_weights.h"

namespace fieldcost::testing {

// The slot of the machines' q-quantile, counted slot by slot, as a reference for published
// quantiles. Returns the first or last slot if q is outside of 0 to 1.
inline unsigned SlotOfQuantile(const stats::AgentWeights& weights, double q) {
  const double wanted = q * static_cast<double>(weights.Total());
  double below = 0;
  unsigned last = 0;
  for (unsigned slot = 0; slot < shm::kBucketSlots; ++slot) {
    if (weights.slots[slot] == 0) continue;
    last = slot;
    below += static_cast<double>(weights.slots[slot]);
    if (below >= wanted) return slot;
  }
  return last;
}

}  // namespace fieldcost::testing
