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
#include "common/tree/dictionary.h"
#include "common/tree/metric.h"
#include "common/tree/run_values.h"

namespace fieldcost::tree {

// One value over the runs of a tree: exact sums, and the least and greatest of them. A run that it
// is not in counts as 0.
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

// What runs cost, by call path. A plain value; made by TreeOf(), by the functions of algebra.h, and
// by DecodeTree().
struct Tree {
  std::shared_ptr<const Dictionary> dictionary;
  std::vector<Metric> metrics;         // ascending by name, each once
  std::uint64_t runs = 1;              // from 1 to kMaxRuns
  std::uint64_t least_of = 0;          // of how many runs minima were taken (Minimum()); 0: of none
  std::vector<std::uint32_t> present;  // [path id]: in how many of the runs; of a parent not less
  std::vector<MetricSpreads> values;   // [metric]

  const PathTable& paths() const { return dictionary->paths; }
};

// The index of the metric of that name.
std::optional<std::size_t> FindMetric(std::span<const Metric> metrics, std::string_view name);

// The tree of all these runs. Inclusive values are those of self and of all that goes on from it:
// one backward sweep. kInvalidArgument if a metric is not valid or there twice, kTooLarge if a
// value of a run passes 64 bits, a sum 128, or there are too many metrics. REQUIRES: at least one
// run and at most kMaxRuns; each with a column for each metric, in the order given, none longer
// than there are paths.
Result<Tree> TreeOf(std::shared_ptr<const Dictionary> dictionary, std::vector<Metric> metrics,
                    std::span<const RunValues> runs);

// What the inclusive sum of each path has beyond its own self sum and the inclusive sums of what
// goes on from it: 0 in trees of runs; in a minimum (algebra.h) what varies. REQUIRES: a metric of
// the tree.
std::vector<stats::Uint128> Excess(const Tree& tree, std::size_t metric);

// The self sums of code without a name together: what cannot be told apart from build to build. The
// whole is the root's inclusive sum. REQUIRES: a metric of the tree.
stats::Uint128 UnnamedSum(const Tree& tree, std::size_t metric);

}  // namespace fieldcost::tree
