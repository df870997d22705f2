#include "common/tree/mean_tree.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "common/base/check.h"
#include "common/tree/combine.h"
#include "common/tree/match.h"
#include "common/tree/tree_limits.h"

namespace fieldcost::tree {
namespace {

using stats::Uint128;

Error TooMuch(const Metric& metric) {
  return Fail(ErrorCode::kTooLarge, "the sum of {} exceeds 127 bits", metric.name);
}

// Adds `from`, converted to a denominator `factor` times as great. Returns false on overflow.
bool AddScaled(const SideSum& from, std::uint64_t factor, SideSum& to) {
  Uint128 sum = 0;
  Uint128 squares = 0;
  return !__builtin_mul_overflow(from.sum, Uint128{factor}, &sum) && AddTo(to.sum, sum) &&
         to.sum < SideSum::kSumEnd &&
         !__builtin_mul_overflow(from.sum_squares, Uint128{factor} * factor, &squares) &&
         AddTo(to.sum_squares, squares);
}

bool AddScaled(const std::vector<Sides>& from, std::uint64_t factor,
               const std::vector<std::uint32_t>& to, std::vector<Sides>& sums) {
  bool fits = true;
  for (std::size_t path = 0; path < from.size(); ++path) {
    Sides& sum = sums[Mapped(to, path)];
    fits &= AddScaled(from[path].before, factor, sum.before);
    fits &= AddScaled(from[path].after, factor, sum.after);
  }
  return fits;
}

void Exchange(std::vector<Sides>& values) {
  for (Sides& sides : values) std::swap(sides.before, sides.after);
}

Uint128 Magnitude(const Sides& sides) {
  return sides.after.sum > sides.before.sum ? sides.after.sum - sides.before.sum
                                            : sides.before.sum - sides.after.sum;
}

std::uint64_t CommonDivisor(const MeanTree& tree) {
  std::uint64_t divisor = tree.denominator;
  for (const MetricSides& metric : tree.values) {
    for (const std::vector<Sides>* values : {&metric.self, &metric.inclusive}) {
      for (const Sides& sides : *values) {
        divisor = std::gcd(divisor, static_cast<std::uint64_t>(Magnitude(sides) % divisor));
      }
    }
  }
  return divisor;
}

std::vector<stats::Int128> Reduced(const std::vector<Sides>& values, std::uint64_t divisor) {
  std::vector<stats::Int128> reduced;
  reduced.reserve(values.size());
  for (const Sides& sides : values) {
    reduced.push_back(NumeratorOf(sides) / static_cast<stats::Int128>(divisor));
  }
  return reduced;
}

// A sum with the denominator, the numbers of runs, and empty values for all paths and metrics.
Result<MeanTree> EmptySum(std::span<const MeanTree> trees, const MatchedMetrics& matched,
                          std::shared_ptr<const Dictionary> dictionary) {
  MeanTree sum = {.dictionary = std::move(dictionary), .metrics = matched.metrics};
  for (const MeanTree& tree : trees) {
    const std::uint64_t factor = tree.denominator / std::gcd(tree.denominator, sum.denominator);
    if (__builtin_mul_overflow(sum.denominator, factor, &sum.denominator)) {
      return Fail(ErrorCode::kTooLarge, "the numbers of runs have no common multiple in 64 bits");
    }
    sum.runs_before += tree.runs_before;
    sum.runs_after += tree.runs_after;
    if (sum.runs_before > kMaxRuns || sum.runs_after > kMaxRuns) {
      return Fail(ErrorCode::kTooLarge, "there are more than {} runs", kMaxRuns);
    }
  }
  sum.where.resize(sum.paths().size());
  sum.values.resize(sum.metrics.size());
  for (MetricSides& values : sum.values) {
    values.self.resize(sum.paths().size());
    values.inclusive.resize(sum.paths().size());
  }
  return sum;
}

}  // namespace

Result<MeanTree> Average(const Tree& tree) {
  MeanTree mean = {.dictionary = tree.dictionary,
                   .metrics = tree.metrics,
                   .denominator = tree.runs,
                   .runs_after = tree.runs};
  for (const std::uint32_t present : tree.present) {
    mean.where.push_back(present == 0 ? 0 : kInAfter);
  }
  bool fits = true;
  const auto side = [&fits](const std::vector<Spread>& from) {
    std::vector<Sides> to(from.size());
    for (std::size_t path = 0; path < from.size(); ++path) {
      to[path].after = {.sum = from[path].sum, .sum_squares = from[path].sum_squares};
      fits &= from[path].sum < SideSum::kSumEnd;
    }
    return to;
  };
  for (std::size_t metric = 0; metric < tree.metrics.size(); ++metric) {
    const MetricSpreads& spreads = tree.values[metric];
    mean.values.push_back({.self = side(spreads.self), .inclusive = side(spreads.inclusive)});
    if (!fits) return TooMuch(tree.metrics[metric]);
  }
  return mean;
}

Result<WithRemarks<MeanTree>> Add(std::span<const MeanTree> trees) {
  FIELDCOST_CHECK(!trees.empty());
  std::vector<std::shared_ptr<const Dictionary>> dictionaries;
  std::vector<const std::vector<Metric>*> metrics;
  for (const MeanTree& tree : trees) {
    dictionaries.push_back(tree.dictionary);
    metrics.push_back(&tree.metrics);
  }
  FIELDCOST_ASSIGN(MatchedMetrics matched, MatchMetrics(metrics));
  FIELDCOST_ASSIGN(const Union united, Unite(dictionaries));
  FIELDCOST_ASSIGN(MeanTree sum, EmptySum(trees, matched, united.dictionary));
  for (std::size_t i = 0; i < trees.size(); ++i) {
    const MeanTree& tree = trees[i];
    const std::uint64_t factor = sum.denominator / tree.denominator;
    for (std::size_t path = 0; path < tree.where.size(); ++path) {
      sum.where[Mapped(united.to[i], path)] |= tree.where[path];
    }
    for (std::size_t metric = 0; metric < sum.metrics.size(); ++metric) {
      const MetricSides& from = tree.values[matched.columns[i][metric]];
      MetricSides& to = sum.values[metric];
      if (!AddScaled(from.self, factor, united.to[i], to.self) ||
          !AddScaled(from.inclusive, factor, united.to[i], to.inclusive)) {
        return TooMuch(sum.metrics[metric]);
      }
    }
  }
  return WithRemarks<MeanTree>{std::move(sum), std::move(matched.remarks)};
}

Result<WithRemarks<MeanTree>> Difference(const MeanTree& before, const MeanTree& after) {
  std::vector<MeanTree> both = {before, after};
  MeanTree& taken = both.front();
  std::swap(taken.runs_before, taken.runs_after);
  for (std::uint8_t& where : taken.where) {
    where = static_cast<std::uint8_t>(((where & kInBefore) != 0 ? kInAfter : 0) |
                                      ((where & kInAfter) != 0 ? kInBefore : 0));
  }
  for (MetricSides& values : taken.values) {
    Exchange(values.self);
    Exchange(values.inclusive);
  }
  return Add(both);
}

Result<WithRemarks<MeanTree>> Difference(const Tree& before, const Tree& after) {
  FIELDCOST_ASSIGN(const MeanTree mean_before, Average(before));
  FIELDCOST_ASSIGN(const MeanTree mean_after, Average(after));
  return Difference(mean_before, mean_after);
}

NetValues Net(const MeanTree& tree) {
  const std::uint64_t divisor = CommonDivisor(tree);
  NetValues net = {.denominator = tree.denominator / divisor};
  for (const MetricSides& values : tree.values) {
    net.self.push_back(Reduced(values.self, divisor));
    net.inclusive.push_back(Reduced(values.inclusive, divisor));
  }
  return net;
}

}  // namespace fieldcost::tree
