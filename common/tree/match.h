#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/tree/metric.h"

namespace fieldcost::tree {

// What several trees have in common: of what is in all of them, the sum can be told.
struct MatchedMetrics {
  std::vector<Metric> metrics;                    // ascending by name
  std::vector<std::vector<std::size_t>> columns;  // [tree][metric]: its index there
  std::vector<std::string> remarks;               // one for each that is left out; ascending
};

// Metrics match by name; exact and sampled ones do, too, and `per_sample` becomes the greatest.
// kInvalidArgument if two of a name have different units, or if nothing matches although there is
// something. REQUIRES: at least one list; each ascending by name.
Result<MatchedMetrics> MatchMetrics(std::span<const std::vector<Metric>* const> lists);

}  // namespace fieldcost::tree
