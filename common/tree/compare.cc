#include "common/tree/compare.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/base/check.h"
#include "common/stats/benjamini_hochberg.h"
#include "common/tree/match.h"
#include "common/tree/welch.h"

namespace fieldcost::tree {
namespace {

using stats::Uint128;

// Before and after.
struct TwoSides {
  Moments before;
  Moments after;
  double difference() const { return after.mean - before.mean; }
};

// All that the tests need, [path id], without the common factor.
struct Observed {
  std::vector<TwoSides> self;
  std::vector<TwoSides> inclusive;
  double per_sample = 0;
};

// Certain changes among all that has enough samples.
class Tests {
 public:
  Tests(const Observed& observed, const PathTable& paths, const CompareOptions& options)
      : observed_(observed), paths_(paths), options_(options) {}

  void Run(Comparison& comparison);

 private:
  struct Test {
    std::uint32_t path;
    ValueKind kind;
    double p;
  };
  const TwoSides& SidesOf(const Test& test) const {
    return (test.kind == ValueKind::kSelf ? observed_.self : observed_.inclusive)[test.path];
  }
  bool HasEnough(const TwoSides& sides) const {
    const double most = std::max(sides.before.mean, sides.after.mean);
    return most > 0 && most >= options_.least_samples * observed_.per_sample;
  }
  Moments NotBelowPoisson(Moments moments) const {
    moments.variance = std::max(moments.variance, moments.mean * observed_.per_sample);
    return moments;
  }
  void Add(std::uint32_t path, ValueKind kind);
  bool IsWorthAWord(const TwoSides& sides) const;
  // Leaves out what is found further down.
  std::vector<bool> Explained(const std::vector<double>& found_self,
                              const std::vector<bool>& found_inclusive) const;

  const Observed& observed_;
  const PathTable& paths_;
  const CompareOptions& options_;
  std::vector<Test> tests_;
};

void Tests::Add(std::uint32_t path, ValueKind kind) {
  const TwoSides& sides = SidesOf({path, kind, 0});
  if (!HasEnough(sides)) return;
  tests_.push_back(
      {path, kind, WelchP(NotBelowPoisson(sides.before), NotBelowPoisson(sides.after))});
}

bool Tests::IsWorthAWord(const TwoSides& sides) const {
  const double total =
      std::max(observed_.inclusive[0].before.mean, observed_.inclusive[0].after.mean);
  const double change = std::abs(sides.difference());
  return change >= options_.least_of_total * total &&
         change >= options_.least_of_node * sides.before.mean && change > 0;
}

std::vector<bool> Tests::Explained(const std::vector<double>& found_self,
                                   const std::vector<bool>& found_inclusive) const {
  std::vector<bool> explained(paths_.size());
  std::vector<double> below = found_self;  // what is told of a path and of all that goes on from it
  for (std::size_t path = paths_.size(); path-- > 0;) {
    if (found_inclusive[path]) {
      const double change = observed_.inclusive[path].difference();
      explained[path] = below[path] / change >= options_.explained;
      if (!explained[path]) below[path] = change;
    }
    if (path != 0) below[paths_.parents()[path]] += below[path];
  }
  return explained;
}

void Tests::Run(Comparison& comparison) {
  for (std::uint32_t path = 0; path < paths_.size(); ++path) {
    const TwoSides& self = observed_.self[path];
    const TwoSides& inclusive = observed_.inclusive[path];
    Add(path, ValueKind::kSelf);
    // Of a leaf that would be the same question again.
    if (inclusive.before.mean != self.before.mean || inclusive.after.mean != self.after.mean) {
      Add(path, ValueKind::kInclusive);
    }
  }
  std::vector<double> p;
  for (const Test& test : tests_) p.push_back(test.p);
  const std::vector<double> q = stats::AdjustForFalseDiscoveries(p);
  std::vector<double> found_self(paths_.size());
  std::vector<bool> found_inclusive(paths_.size());
  std::vector<Change> found;
  for (std::size_t i = 0; i < tests_.size(); ++i) {
    const TwoSides& sides = SidesOf(tests_[i]);
    if (q[i] > options_.false_share || !IsWorthAWord(sides)) continue;
    found.push_back({.path = PathId(tests_[i].path),
                     .kind = tests_[i].kind,
                     .before = sides.before.mean,
                     .after = sides.after.mean,
                     .q = q[i]});
    if (tests_[i].kind == ValueKind::kSelf) {
      found_self[tests_[i].path] = sides.difference();
    } else {
      found_inclusive[tests_[i].path] = true;
    }
  }
  const std::vector<bool> explained = Explained(found_self, found_inclusive);
  std::erase_if(found, [&](const Change& change) {
    return change.kind == ValueKind::kInclusive && explained[change.path.value()];
  });
  std::stable_sort(found.begin(), found.end(), [](const Change& a, const Change& b) {
    return std::abs(a.difference()) > std::abs(b.difference());
  });
  comparison.tested = tests_.size();
  comparison.changes = std::move(found);
}

// Totals, and the tests if there are runs enough.
void Finish(const Observed& observed, const CompareOptions& options, Comparison& comparison) {
  const TwoSides& total = observed.inclusive[0];
  comparison.total_before = total.before.mean;
  comparison.total_after = total.after.mean;
  comparison.is_enough = total.before.count >= 2 && total.after.count >= 2;
  if (!comparison.is_enough) return;
  Tests(observed, comparison.dictionary->paths, options).Run(comparison);
}

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
    const double factor = WeightedMedian(ratios, means);
    if (factor > 0) run.factor = factor;
  }
}

// Takes the factors out, down or up to those of the runs before.
void Normalize(std::span<Run> runs, std::size_t runs_before, Comparison& comparison) {
  std::vector<double> logs;
  for (const Run& run : runs) logs.push_back(std::log(run.factor));
  const Moments before = MomentsOf(std::span(logs).first(runs_before));
  const Moments after = MomentsOf(std::span(logs).subspan(runs_before));
  comparison.factor = std::exp(after.mean - before.mean);
  if (before.count >= 2 && after.count >= 2) comparison.factor_p = WelchP(before, after);
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
    sides[path] = {.before = MomentsOf(std::span(of_path).first(runs_before)),
                   .after = MomentsOf(std::span(of_path).subspan(runs_before))};
  }
  return sides;
}

Error NoSuchMetric(std::string_view metric) {
  return Fail(ErrorCode::kInvalidArgument, "the trees have no metric {} in common", metric);
}

// Of runs that bring so much each over that denominator.
Moments MomentsOf(const SideSum& side, std::uint64_t runs, std::uint64_t denominator) {
  const auto count = static_cast<long double>(runs);
  if (runs == 0) return {};
  const auto sum = static_cast<long double>(side.sum);
  const auto squares = static_cast<long double>(side.sum_squares);
  const long double unit = count / static_cast<long double>(denominator);
  Moments moments = {.count = static_cast<double>(count),
                     .mean = static_cast<double>(sum / static_cast<long double>(denominator))};
  if (runs > 1 && stats::Multiply(runs, side.sum_squares) != stats::Multiply(side.sum, side.sum)) {
    moments.variance = static_cast<double>(
        std::max(0.0L, (squares - sum * sum / count) / (count - 1) * unit * unit));
  }
  return moments;
}

void Scale(Moments& moments, double by) {
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
  SetFactors(runs, before.size(), options.least_samples * observed.per_sample);
  Normalize(runs, before.size(), comparison);
  observed.self = SidesOf(runs, before.size(), &Run::self);
  observed.inclusive = SidesOf(runs, before.size(), &Run::inclusive);
  Finish(observed, options, comparison);
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
  if (!ratios.empty()) comparison.factor = WeightedMedian(ratios, weights);
  for (std::vector<TwoSides>* values : {&observed.self, &observed.inclusive}) {
    for (TwoSides& sides : *values) Scale(sides.after, 1 / comparison.factor);
  }
  Finish(observed, options, comparison);
  return comparison;
}

}  // namespace fieldcost::tree
