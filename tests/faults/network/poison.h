#pragma once

#include <cstdint>
#include <vector>

#include "common/stats/agent_weights.h"
#include "common/stats/cost_histogram.h"

namespace fieldcost::faults {

// What may be published as a figure.
struct Range {
  double low = 0;
  double high = 0;
  bool Holds(double value) const { return low <= value && value <= high; }
};

// What honest agents have contributed to one row, and how far other contributions, whatever they
// claim, can move what is published of it: the formulas of aggregator/publish/BOUNDS.md, computed
// from the contributions one by one and not as the service does.
class HonestRow {
 public:
  void Add(const stats::CostHistogram& contribution);

  std::uint64_t contributions() const { return calls_.size(); }
  double sum() const;

  // Of the p-quantile of machines, to a power of two, if `hostile` others contribute.
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
