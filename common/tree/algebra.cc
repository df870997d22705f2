#include "common/tree/algebra.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "common/base/check.h"
#include "common/tree/combine.h"
#include "common/tree/match.h"
#include "common/tree/tree_limits.h"

namespace fieldcost::tree {
namespace {

// The common parts of the operands, and an empty result with room for them.
struct Prepared {
  Tree tree;
  std::vector<std::vector<std::uint32_t>> to;  // of Union
  MatchedMetrics matched;
};

Result<Prepared> Prepare(std::span<const Tree> trees) {
  FIELDCOST_CHECK(!trees.empty());
  std::vector<std::shared_ptr<const Dictionary>> dictionaries;
  std::vector<const std::vector<Metric>*> metrics;
  std::uint64_t runs = 0;
  std::uint64_t least_of = 0;
  for (const Tree& tree : trees) {
    dictionaries.push_back(tree.dictionary);
    metrics.push_back(&tree.metrics);
    runs += tree.runs;
    least_of += tree.least_of;
    if (runs > kMaxRuns || least_of > kMaxRuns) {
      return Fail(ErrorCode::kTooLarge, "there are more than {} runs", kMaxRuns);
    }
  }
  Prepared prepared;
  FIELDCOST_ASSIGN(prepared.matched, MatchMetrics(metrics));
  FIELDCOST_ASSIGN(Union united, Unite(dictionaries));
  prepared.to = std::move(united.to);
  Tree& tree = prepared.tree;
  tree = {.dictionary = std::move(united.dictionary),
          .metrics = prepared.matched.metrics,
          .runs = runs,
          .least_of = least_of};
  tree.present.resize(tree.paths().size());
  tree.values.resize(tree.metrics.size());
  for (MetricSpreads& spreads : tree.values) {
    spreads.self.resize(tree.paths().size());
    spreads.inclusive.resize(tree.paths().size());
  }
  return prepared;
}

// The number of trees whose dictionary contains each path.
std::vector<std::uint32_t> KnownIn(std::span<const Tree> trees, const Prepared& prepared) {
  std::vector<std::uint32_t> known(prepared.tree.paths().size());
  for (std::size_t i = 0; i < trees.size(); ++i) {
    for (std::size_t path = 0; path < trees[i].paths().size(); ++path) {
      ++known[Mapped(prepared.to[i], path)];
    }
  }
  return known;
}

// Returns false on overflow.
bool AddSpreads(const std::vector<Spread>& from, const std::vector<std::uint32_t>& to,
                bool is_first, std::vector<Spread>& sums) {
  bool fits = true;
  for (std::size_t path = 0; path < from.size(); ++path) {
    Spread& sum = sums[Mapped(to, path)];
    if (is_first) {
      sum = from[path];
    } else {
      fits &= Combine(from[path], sum);
    }
  }
  return fits;
}

void LowerMinima(const std::vector<std::uint32_t>& known, std::size_t trees,
                 std::vector<Spread>& sums) {
  for (std::size_t path = 0; path < sums.size(); ++path) {
    if (known[path] < trees) sums[path].min = 0;
  }
}

Spread OneRun(std::uint64_t value) {
  return {.sum = value, .sum_squares = stats::Uint128{value} * value, .min = value, .max = value};
}

}  // namespace

Result<WithRemarks<Tree>> Add(std::span<const Tree> trees) {
  FIELDCOST_ASSIGN(Prepared prepared, Prepare(trees));
  Tree& sum = prepared.tree;
  for (std::size_t i = 0; i < trees.size(); ++i) {
    for (std::size_t path = 0; path < trees[i].present.size(); ++path) {
      sum.present[Mapped(prepared.to[i], path)] += trees[i].present[path];
    }
    for (std::size_t metric = 0; metric < sum.metrics.size(); ++metric) {
      const MetricSpreads& from = trees[i].values[prepared.matched.columns[i][metric]];
      MetricSpreads& to = sum.values[metric];
      if (!AddSpreads(from.self, prepared.to[i], i == 0, to.self) ||
          !AddSpreads(from.inclusive, prepared.to[i], i == 0, to.inclusive)) {
        return Fail(ErrorCode::kTooLarge, "the sum of {} exceeds 128 bits",
                    sum.metrics[metric].name);
      }
    }
  }
  // If a tree does not know a path, its runs have 0 for it.
  const std::vector<std::uint32_t> known = KnownIn(trees, prepared);
  for (MetricSpreads& spreads : sum.values) {
    LowerMinima(known, trees.size(), spreads.self);
    LowerMinima(known, trees.size(), spreads.inclusive);
  }
  return WithRemarks<Tree>{std::move(sum), std::move(prepared.matched.remarks)};
}

Result<WithRemarks<Tree>> Minimum(std::span<const Tree> trees) {
  FIELDCOST_ASSIGN(Prepared prepared, Prepare(trees));
  Tree& least = prepared.tree;
  std::vector<std::uint32_t> always(least.paths().size());  // count of trees whose runs all have it
  for (std::size_t i = 0; i < trees.size(); ++i) {
    for (std::size_t path = 0; path < trees[i].present.size(); ++path) {
      if (trees[i].present[path] == trees[i].runs) ++always[Mapped(prepared.to[i], path)];
    }
  }
  for (std::size_t i = 0; i < trees.size(); ++i) {
    for (std::size_t path = 0; path < trees[i].present.size(); ++path) {
      const std::size_t to = Mapped(prepared.to[i], path);
      if (always[to] != trees.size()) continue;
      for (std::size_t metric = 0; metric < least.metrics.size(); ++metric) {
        const MetricSpreads& from = trees[i].values[prepared.matched.columns[i][metric]];
        Spread& self = least.values[metric].self[to];
        Spread& inclusive = least.values[metric].inclusive[to];
        self.min = i == 0 ? from.self[path].min : std::min(self.min, from.self[path].min);
        inclusive.min =
            i == 0 ? from.inclusive[path].min : std::min(inclusive.min, from.inclusive[path].min);
      }
      least.present[to] = 1;
    }
  }
  for (MetricSpreads& spreads : least.values) {
    for (Spread& self : spreads.self) self = OneRun(self.min);
    for (Spread& inclusive : spreads.inclusive) inclusive = OneRun(inclusive.min);
  }
  // A tree that is itself a minimum represents more runs than the one that it counts as.
  least.least_of = 0;
  for (const Tree& tree : trees) {
    least.least_of += tree.least_of == 0 ? tree.runs : tree.least_of;
  }
  if (least.least_of > kMaxRuns) {
    return Fail(ErrorCode::kTooLarge, "there are more than {} runs", kMaxRuns);
  }
  least.runs = 1;
  for (const Metric& metric : least.metrics) {
    if (!metric.sampled()) continue;
    prepared.matched.remarks.push_back(
        fmt::format("{} is sampled: the least of few samples is too low", metric.name));
  }
  return WithRemarks<Tree>{std::move(least), std::move(prepared.matched.remarks)};
}

}  // namespace fieldcost::tree
