#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/tree/tree_metric.h"

namespace fieldcost::tree {

// The metrics that several trees have in common, and which can therefore be summed.
struct MatchedMetrics {
  std::vector<Metric> metrics;                    // ascending by name
  std::vector<std::vector<std::size_t>> columns;  // [tree][metric]: its index in the tree
  std::vector<std::string> remarks;               // one per omitted metric; ascending
};

// Metrics match by name, even exact ones with sampled ones; `per_sample` becomes the maximum.
// kInvalidArgument if two metrics of the same name have different units, or if there are metrics
// but none matches. REQUIRES: at least one list; each ascending by name.
Result<MatchedMetrics> MatchMetrics(std::span<const std::vector<Metric>* const> lists);

}  // namespace fieldcost::tree
