#include "tools/analysis/local_change.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "common/inference/anomaly.h"
#include "common/inference/effect_size.h"

namespace fieldcost::analysis {
namespace {

using inference::Verdict;

using SumsByApi = std::map<std::pair<std::string, std::string>, stats::ApiSums>;

SumsByApi SumsOf(std::span<const stats::StatRow> rows, stats::Metric metric) {
  SumsByApi sums;
  for (const stats::StatRow& row : rows) {
    if (row.key.metric == metric) sums[{row.key.api.soname, row.key.api.symbol}].Merge(row);
  }
  return sums;
}

Verdict LocalVerdict(const LocalChange& change) {
  const inference::Thresholds& least = inference::kFieldThresholds;
  const bool is_enough = std::min(change.timed_before, change.timed_after) >= least.least_values;
  if (!is_enough) return Verdict::kTooLittleData;
  return inference::VerdictOf({.q = 0, .ratio = change.ratio, .delta = change.delta}, least);
}

LocalChange CompareSums(const stats::ApiSums& before, const stats::ApiSums& after) {
  LocalChange change;
  change.before = stats::FiguresOf(before, stats::Whose::kOwn);
  change.after = stats::FiguresOf(after, stats::Whose::kOwn);
  change.timed_before = before.histogram.timed();
  change.timed_after = after.histogram.timed();
  if (change.before.mean.value_or(0) > 0 && change.after.mean) {
    change.ratio = *change.after.mean / *change.before.mean;
  }
  change.delta =
      inference::CliffsDelta({.histogram = &before.histogram}, {.histogram = &after.histogram});
  change.change = LocalVerdict(change);
  return change;
}

// The sort key; smaller keys come first.
auto ChangeOrder(const LocalChange& change) {
  const bool more = change.change == Verdict::kMore;
  const bool less = change.change == Verdict::kLess;
  const double strength = more ? -change.ratio : less ? change.ratio : 0;
  return std::tuple(more                              ? 0
                    : less                            ? 1
                    : change.change == Verdict::kNone ? 2
                                                      : 3,
                    strength, change.soname, change.symbol);
}

}  // namespace

std::vector<LocalChange> CompareLocal(std::span<const stats::StatRow> before,
                                      std::span<const stats::StatRow> after, stats::Metric metric) {
  const SumsByApi old = SumsOf(before, metric);
  std::vector<LocalChange> changes;
  for (const auto& [name, sums] : SumsOf(after, metric)) {
    const auto found = old.find(name);
    if (found == old.end()) continue;
    LocalChange change = CompareSums(found->second, sums);
    std::tie(change.soname, change.symbol) = name;
    change.metric = metric;
    changes.push_back(std::move(change));
  }
  std::ranges::sort(changes, {}, ChangeOrder);
  return changes;
}

}  // namespace fieldcost::analysis
