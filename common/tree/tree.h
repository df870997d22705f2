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

// One value over the runs of a tree: exact sums, minimum and maximum. It is 0 in a run without it.
struct Spread {
  stats::Uint128 sum = 0;
  stats::Uint128 sum_squares = 0;
  std::uint64_t min = 0;
  std::uint64_t max = 0;
  bool operator==(const Spread&) const = default;
};

// The values of a metric, indexed by path id.
struct MetricSpreads {
  std::vector<Spread> self;
  std::vector<Spread> inclusive;
};

// The costs of runs by call path. A plain value, created by TreeOf(), DecodeTree() and the
// functions of algebra.h.
struct Tree {
  std::shared_ptr<const Dictionary> dictionary;
  std::vector<Metric> metrics;         // ascending by name, each once
  std::uint64_t runs = 1;              // from 1 to kMaxRuns
  std::uint64_t least_of = 0;          // number of runs of a minimum (Minimum()), or 0
  std::vector<std::uint32_t> present;  // [path id]: runs with it; never more than its parent's
  std::vector<MetricSpreads> values;   // [metric]

  const PathTable& paths() const { return dictionary->paths; }
};

// The index of the metric of that name.
std::optional<std::size_t> FindMetric(std::span<const Metric> metrics, std::string_view name);

// Returns the tree of all these runs. Inclusive values cover a path and all paths that extend it,
// and are computed in one backward sweep. kInvalidArgument if a metric is invalid or duplicated;
// kTooLarge if a run's value exceeds 64 bits, a sum 128 bits, or there are too many metrics.
// REQUIRES: between one and kMaxRuns runs, each with one column per metric, in the given order, and
// none longer than the number of paths.
Result<Tree> TreeOf(std::shared_ptr<const Dictionary> dictionary, std::vector<Metric> metrics,
                    std::span<const RunValues> runs);

// The excess of each path's inclusive sum over its self sum and its children's inclusive sums: 0 in
// trees of runs; the part that varies in a minimum (algebra.h). REQUIRES: a metric of the tree.
std::vector<stats::Uint128> Excess(const Tree& tree, std::size_t metric);

// The total self sum of code without a name, which cannot be matched across builds. The total is
// the root's inclusive sum. REQUIRES: a metric of the tree.
stats::Uint128 UnnamedSum(const Tree& tree, std::size_t metric);

}  // namespace fieldcost::tree
