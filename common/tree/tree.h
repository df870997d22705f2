#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/stats/uint128.h"
#include "common/tree/run_values.h"
#include "common/tree/tree_dictionary.h"
#include "common/tree/tree_metric.h"

namespace fieldcost::tree {

// One value over the runs of a tree: exact sums, and the least and greatest value. A run without it
// counts as 0.
struct Spread {
  stats::Uint128 sum = 0;
  stats::Uint128 sum_squares = 0;
  std::uint64_t min = 0;
  std::uint64_t max = 0;
  bool operator==(const Spread&) const = default;
};

// A metric's values, [path id].
struct MetricSpreads {
  std::vector<Spread> self;
  std::vector<Spread> inclusive;
};

// The costs of runs by call path. A plain value; made by TreeOf(), by the functions of algebra.h,
// and by DecodeTree().
struct Tree {
  std::shared_ptr<const Dictionary> dictionary;
  std::vector<Metric> metrics;         // ascending by name, each once
  std::uint64_t runs = 1;              // from 1 to kMaxRuns
  std::uint64_t least_of = 0;          // the number of runs of the minimum (Minimum()); 0: not one
  std::vector<std::uint32_t> present;  // [path id]: the number of runs with it; a parent's not less
  std::vector<MetricSpreads> values;   // [metric]

  const PathTable& paths() const { return dictionary->paths; }
};

// The index of the metric of that name.
std::optional<std::size_t> FindMetric(std::span<const Metric> metrics, std::string_view name);

// The tree of all these runs. Inclusive values cover a path and all paths that extend it, computed
// in one backward sweep. kInvalidArgument if a metric is invalid or duplicated, kTooLarge if a
// run's value exceeds 64 bits, a sum 128 bits, or there are too many metrics. REQUIRES: at least
// one run and at most kMaxRuns; each with a column for each metric, in the given order, none longer
// than the number of paths.
Result<Tree> TreeOf(std::shared_ptr<const Dictionary> dictionary, std::vector<Metric> metrics,
                    std::span<const RunValues> runs);

// The excess of each path's inclusive sum over its self sum and the inclusive sums of its children:
// 0 in trees of runs; in a minimum (algebra.h) what varies. REQUIRES: a metric of the tree.
std::vector<stats::Uint128> Excess(const Tree& tree, std::size_t metric);

// The total self sum of code without a name, which cannot be matched across builds. The whole is
// the root's inclusive sum. REQUIRES: a metric of the tree.
stats::Uint128 UnnamedSum(const Tree& tree, std::size_t metric);

}  // namespace fieldcost::tree
