#pragma once

#include <cstdint>
#include <vector>

#include "common/stats/agent_weights.h"
#include "common/stats/cost_histogram.h"

namespace fieldcost::faults {

// The range within which a published figure must lie.
struct Range {
  double low = 0;
  double high = 0;
  bool Holds(double value) const { return low <= value && value <= high; }
};

// The honest agents' contributions to one row, and how far other contributions, however they
// claim, can shift the published figures: the formulas of aggregator/publish/BOUNDS.md, computed
// from the individual contributions and not in the way the service does.
class HonestRow {
 public:
  void Add(const stats::CostHistogram& contribution);

  std::uint64_t contributions() const { return calls_.size(); }
  double sum() const;

  // Returns the range of the p-quantile over machines, to a power of two, with `hostile` hostile
  // agents.
  Range Quantile(double p, std::uint64_t hostile) const;
  Range BoundedCalls(std::uint64_t hostile) const { return Bounded(calls_, hostile); }
  Range BoundedSum(std::uint64_t hostile) const { return Bounded(sums_, hostile); }

 private:
  static Range Bounded(std::vector<std::uint64_t> sizes, std::uint64_t hostile);

  stats::AgentWeights weights_;
  std::vector<std::uint64_t> calls_;
  std::vector<std::uint64_t> sums_;
};

}  // namespace fieldcost::faults
