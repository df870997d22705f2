#include "common/tree/compare_trees.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "common/base/check.h"
#include "common/inference/welch.h"
#include "common/tree/certain.h"
#include "common/tree/match.h"
#include "common/tree/run_factor.h"

namespace fieldcost::tree {
namespace {

using stats::Uint128;

// Counts that are determined by the program's behaviour.
constexpr std::array<std::string_view, 4> kDeterminedCounts = {"calls", "branches", "allocations",
                                                               "frees"};
// Times that grow on a slower machine, including other tools' names for them.
constexpr std::array<std::string_view, 7> kSpeedMetrics = {
    "cpu", "wall", "branch-wall", "cpu-clock", "task-clock", "cycles", "samples"};

constexpr double kAgree = 0.05;  // the paths' ratios agree if p is greater than this

bool IsOneOf(std::string_view name, std::span<const std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

// The runs' values, indexed by [run][path id].
struct Runs {
  std::vector<std::vector<double>> self;
  std::vector<std::vector<double>> inclusive;
  std::size_t before = 0;  // the number of runs before, which come first
};

void AddRun(const Tree& tree, std::size_t metric, const std::vector<std::uint32_t>& to,
            std::size_t paths, Runs& all) {
  std::vector<double>& self = all.self.emplace_back(paths);
  std::vector<double>& inclusive = all.inclusive.emplace_back(paths);
  const MetricSpreads& spreads = tree.values[metric];
  const auto runs = static_cast<double>(tree.runs);
  for (std::size_t path = 0; path < spreads.self.size(); ++path) {
    self[Mapped(to, path)] = static_cast<double>(spreads.self[path].sum) / runs;
    inclusive[Mapped(to, path)] = static_cast<double>(spreads.inclusive[path].sum) / runs;
  }
}

// Sets the factor between the sides and its p. Returns the multipliers that make each run's factor
// that of the mean run before.
std::vector<double> FactorsOut(const Runs& runs, double least, Comparison& comparison) {
  std::vector<double> factors = RunFactors(runs.self, runs.before, least);
  std::vector<double> logs;
  for (const double factor : factors) logs.push_back(std::log(factor));
  const inference::Moments before = inference::MomentsOf(std::span(logs).first(runs.before));
  const inference::Moments after = inference::MomentsOf(std::span(logs).subspan(runs.before));
  comparison.factor = std::exp(after.mean - before.mean);
  if (before.count >= 2 && after.count >= 2) comparison.factor_p = inference::WelchP(before, after);
  for (double& factor : factors) factor = std::exp(before.mean) / factor;
  return factors;
}

std::vector<TwoSides> SidesOf(const std::vector<std::vector<double>>& runs, std::size_t before,
                              std::span<const double> multiply = {}) {
  std::vector<TwoSides> sides(runs.front().size());
  std::vector<double> of_path(runs.size());
  for (std::size_t path = 0; path < sides.size(); ++path) {
    for (std::size_t i = 0; i < runs.size(); ++i) {
      of_path[i] = runs[i][path] * (multiply.empty() ? 1 : multiply[i]);
    }
    sides[path] = {.before = inference::MomentsOf(std::span(of_path).first(before)),
                   .after = inference::MomentsOf(std::span(of_path).subspan(before))};
  }
  return sides;
}

Error NoSuchMetric(std::string_view metric) {
  return Fail(ErrorCode::kInvalidArgument, "the trees have no metric {} in common", metric);
}

// The factor between the two sides, for sums over runs.
double FactorOf(const Observed& observed, const CompareOptions& options) {
  std::vector<std::vector<double>> self(2);
  for (const TwoSides& sides : observed.measured.self) {
    self[0].push_back(sides.before.mean);
    self[1].push_back(sides.after.mean);
  }
  const std::vector<double> factors =
      RunFactors(self, 1, options.least_samples * observed.per_sample);
  return factors[1] / factors[0];
}

}  // namespace

inference::Moments MomentsOf(const SideSum& side, std::uint64_t runs, std::uint64_t denominator) {
  const auto count = static_cast<long double>(runs);
  if (runs == 0) return {};
  const auto sum = static_cast<long double>(side.sum);
  const auto squares = static_cast<long double>(side.sum_squares);
  const long double unit = count / static_cast<long double>(denominator);
  inference::Moments moments = {
      .count = static_cast<double>(count),
      .mean = static_cast<double>(sum / static_cast<long double>(denominator))};
  if (runs > 1 && stats::Multiply(runs, side.sum_squares) != stats::Multiply(side.sum, side.sum)) {
    moments.variance = static_cast<double>(
        std::max(0.0L, (squares - sum * sum / count) / (count - 1) * unit * unit));
  }
  return moments;
}

CompareOptions CompareOptionsFor(const Metric& metric) {
  CompareOptions options;
  options.depends_on_speed = IsOneOf(metric.name, kSpeedMetrics);
  if (!metric.sampled() && IsOneOf(metric.name, kDeterminedCounts)) {
    options.least_of_total = 0;
    options.least_of_node = 0;
    options.least_of_constant = 0;
  }
  if (!metric.sampled() && metric.unit == Unit::kBytes) options.least_of_constant = 0;
  return options;
}

bool Comparison::AreAllAlike() const {
  return inference::IsChange(total.verdict) && alike_p && *alike_p > kAgree &&
         (factor > 1) == (total.difference() > 0);
}

bool Comparison::HasIncrease() const {
  return total.verdict == inference::Verdict::kMore ||
         std::ranges::any_of(changes, [](const Change& one) { return one.difference() > 0; });
}

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
  Runs runs = {.before = before.size()};
  for (std::size_t i = 0; i < trees.size(); ++i) {
    AddRun(*trees[i], matched.columns[i][*column], united.to[i], united.dictionary->paths.size(),
           runs);
  }
  Comparison comparison = {.dictionary = united.dictionary};
  Observed observed = {.measured = {.self = SidesOf(runs.self, runs.before),
                                    .inclusive = SidesOf(runs.inclusive, runs.before)},
                       .per_sample = static_cast<double>(matched.metrics[*column].per_sample)};
  if (options.depends_on_speed) {
    const std::vector<double> multiply =
        FactorsOut(runs, options.least_samples * observed.per_sample, comparison);
    observed.relative = {.self = SidesOf(runs.self, runs.before, multiply),
                         .inclusive = SidesOf(runs.inclusive, runs.before, multiply)};
  }
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
  Observed observed = {.measured = {.self = all(difference.values[*column].self),
                                    .inclusive = all(difference.values[*column].inclusive)},
                       .per_sample = static_cast<double>(difference.metrics[*column].per_sample)};
  if (options.depends_on_speed) comparison.factor = FactorOf(observed, options);
  FindCertain(observed, options, comparison);
  return comparison;
}

}  // namespace fieldcost::tree
