#include "common/tree/compare.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/base/check.h"
#include "common/stats/welch.h"
#include "common/tree/certain.h"
#include "common/tree/match.h"

namespace fieldcost::tree {
namespace {

using stats::Uint128;

// A run's values, [path id].
struct Run {
  std::vector<double> self;
  std::vector<double> inclusive;
  double factor = 1;
};

Run RunOf(const Tree& tree, std::size_t metric, const std::vector<std::uint32_t>& to,
          std::size_t paths) {
  Run run = {.self = std::vector<double>(paths), .inclusive = std::vector<double>(paths)};
  const MetricSpreads& spreads = tree.values[metric];
  const auto runs = static_cast<double>(tree.runs);
  for (std::size_t path = 0; path < spreads.self.size(); ++path) {
    run.self[Mapped(to, path)] = static_cast<double>(spreads.self[path].sum) / runs;
    run.inclusive[Mapped(to, path)] = static_cast<double>(spreads.inclusive[path].sum) / runs;
  }
  return run;
}

// Gives each run its factor: what its paths have above their mean, on the whole. Both sides have
// the same weight in the mean, however many runs they have.
void SetFactors(std::vector<Run>& runs, std::size_t runs_before, double least) {
  const std::size_t paths = runs.front().self.size();
  std::vector<std::size_t> enough;
  std::vector<double> means;
  for (std::size_t path = 0; path < paths; ++path) {
    double before = 0;
    double after = 0;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      (i < runs_before ? before : after) += runs[i].self[path];
    }
    const double mean = (before / static_cast<double>(runs_before) +
                         after / static_cast<double>(runs.size() - runs_before)) /
                        2;
    if (mean <= 0 || mean < least) continue;
    enough.push_back(path);
    means.push_back(mean);
  }
  std::vector<double> ratios(enough.size());
  for (Run& run : runs) {
    for (std::size_t i = 0; i < enough.size(); ++i) ratios[i] = run.self[enough[i]] / means[i];
    const double factor = stats::WeightedMedian(ratios, means);
    if (factor > 0) run.factor = factor;
  }
}

// Takes the factors out, down or up to those of the runs before.
void Normalize(std::span<Run> runs, std::size_t runs_before, Comparison& comparison) {
  std::vector<double> logs;
  for (const Run& run : runs) logs.push_back(std::log(run.factor));
  const stats::Moments before = stats::MomentsOf(std::span(logs).first(runs_before));
  const stats::Moments after = stats::MomentsOf(std::span(logs).subspan(runs_before));
  comparison.factor = std::exp(after.mean - before.mean);
  if (before.count >= 2 && after.count >= 2) comparison.factor_p = stats::WelchP(before, after);
  for (Run& run : runs) {
    const double by = std::exp(before.mean) / run.factor;
    for (double& value : run.self) value *= by;
    for (double& value : run.inclusive) value *= by;
  }
}

std::vector<TwoSides> SidesOf(const std::vector<Run>& runs, std::size_t runs_before,
                              std::vector<double> Run::*values) {
  std::vector<TwoSides> sides((runs.front().*values).size());
  std::vector<double> of_path(runs.size());
  for (std::size_t path = 0; path < sides.size(); ++path) {
    for (std::size_t i = 0; i < runs.size(); ++i) of_path[i] = (runs[i].*values)[path];
    sides[path] = {.before = stats::MomentsOf(std::span(of_path).first(runs_before)),
                   .after = stats::MomentsOf(std::span(of_path).subspan(runs_before))};
  }
  return sides;
}

Error NoSuchMetric(std::string_view metric) {
  return Fail(ErrorCode::kInvalidArgument, "the trees have no metric {} in common", metric);
}

// Mean and variance of what a run brings, divided by the denominator.
stats::Moments MomentsOf(const SideSum& side, std::uint64_t runs, std::uint64_t denominator) {
  const auto count = static_cast<long double>(runs);
  if (runs == 0) return {};
  const auto sum = static_cast<long double>(side.sum);
  const auto squares = static_cast<long double>(side.sum_squares);
  const long double unit = count / static_cast<long double>(denominator);
  stats::Moments moments = {
      .count = static_cast<double>(count),
      .mean = static_cast<double>(sum / static_cast<long double>(denominator))};
  if (runs > 1 && stats::Multiply(runs, side.sum_squares) != stats::Multiply(side.sum, side.sum)) {
    moments.variance = static_cast<double>(
        std::max(0.0L, (squares - sum * sum / count) / (count - 1) * unit * unit));
  }
  return moments;
}

void Scale(stats::Moments& moments, double by) {
  moments.mean *= by;
  moments.variance *= by * by;
}

}  // namespace

Result<Comparison> Compare(std::span<const Tree> before, std::span<const Tree> after,
                           std::string_view metric, const CompareOptions& options) {
  FIELDCOST_CHECK(!before.empty() && !after.empty());
  std::vector<const Tree*> trees;
  for (const Tree& tree : before) trees.push_back(&tree);
  for (const Tree& tree : after) trees.push_back(&tree);
  std::vector<std::shared_ptr<const Dictionary>> dictionaries;
  std::vector<const std::vector<Metric>*> metrics;
  for (const Tree* tree : trees) {
    dictionaries.push_back(tree->dictionary);
    metrics.push_back(&tree->metrics);
  }
  FIELDCOST_ASSIGN(const MatchedMetrics matched, MatchMetrics(metrics));
  const auto column = FindMetric(matched.metrics, metric);
  if (!column) return NoSuchMetric(metric);
  FIELDCOST_ASSIGN(const Union united, Unite(dictionaries));
  std::vector<Run> runs;
  for (std::size_t i = 0; i < trees.size(); ++i) {
    runs.push_back(RunOf(*trees[i], matched.columns[i][*column], united.to[i],
                         united.dictionary->paths.size()));
  }
  Comparison comparison = {.dictionary = united.dictionary};
  Observed observed = {.per_sample = static_cast<double>(matched.metrics[*column].per_sample)};
  if (options.common_factor)
    SetFactors(runs, before.size(), options.least_samples * observed.per_sample);
  Normalize(runs, before.size(), comparison);
  observed.self = SidesOf(runs, before.size(), &Run::self);
  observed.inclusive = SidesOf(runs, before.size(), &Run::inclusive);
  FindCertain(observed, options, comparison);
  return comparison;
}

Result<Comparison> Compare(const MeanTree& difference, std::string_view metric,
                           const CompareOptions& options) {
  const auto column = FindMetric(difference.metrics, metric);
  if (!column) return NoSuchMetric(metric);
  const auto all = [&](const std::vector<Sides>& values) {
    std::vector<TwoSides> sides;
    for (const Sides& value : values) {
      sides.push_back(
          {.before = MomentsOf(value.before, difference.runs_before, difference.denominator),
           .after = MomentsOf(value.after, difference.runs_after, difference.denominator)});
    }
    return sides;
  };
  Comparison comparison = {.dictionary = difference.dictionary};
  Observed observed = {.self = all(difference.values[*column].self),
                       .inclusive = all(difference.values[*column].inclusive),
                       .per_sample = static_cast<double>(difference.metrics[*column].per_sample)};
  std::vector<double> ratios;
  std::vector<double> weights;
  for (const TwoSides& sides : observed.self) {
    const double least = std::min(sides.before.mean, sides.after.mean);
    if (least <= 0 || least < options.least_samples * observed.per_sample) continue;
    ratios.push_back(sides.after.mean / sides.before.mean);
    weights.push_back(sides.before.mean);
  }
  if (options.common_factor && !ratios.empty()) {
    comparison.factor = stats::WeightedMedian(ratios, weights);
  }
  for (std::vector<TwoSides>* values : {&observed.self, &observed.inclusive}) {
    for (TwoSides& sides : *values) Scale(sides.after, 1 / comparison.factor);
  }
  FindCertain(observed, options, comparison);
  return comparison;
}

}  // namespace fieldcost::tree
