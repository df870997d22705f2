#include "common/tree/certain.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/inference/benjamini_hochberg.h"
#include "common/inference/tails.h"

namespace fieldcost::tree {
namespace {

// A change relative to the other paths must also be at least this share as large as measured.
constexpr double kLeastMeasured = 0.5;
constexpr double kLeastP = 1e-300;
// The variance of equal values is at most this share of their square, since squares are rounded.
constexpr double kRounding = 1e-15;

bool IsConstant(const inference::Moments& moments) {
  return moments.variance <= kRounding * moments.mean * moments.mean;
}

// Finds the certain changes among all values with enough samples.
class Tests {
 public:
  Tests(const Observed& observed, const PathTable& paths, const CompareOptions& options)
      : observed_(observed), paths_(paths), options_(options) {}

  void Run(Comparison& comparison);

 private:
  struct Test {
    std::uint32_t path;
    ValueKind kind;
    double q = 1;  // the smaller q of the tests that found a change
    bool is_found = false;
  };
  struct Means {
    double before = 0;
    double after = 0;
  };
  static const TwoSides& SidesOf(const PathValues& values, const Test& test) {
    return (test.kind == ValueKind::kSelf ? values.self : values.inclusive)[test.path];
  }
  const TwoSides& MeasuredOf(const Test& test) const { return SidesOf(observed_.measured, test); }
  bool HasEnough(const TwoSides& sides) const {
    const double most = std::max(sides.before.mean, sides.after.mean);
    return most > 0 && most >= options_.least_samples * observed_.per_sample;
  }
  inference::Moments NotBelowPoisson(inference::Moments moments) const {
    moments.variance = std::max(moments.variance, moments.mean * observed_.per_sample);
    return moments;
  }
  double P(const TwoSides& sides) const {
    return inference::WelchP(NotBelowPoisson(sides.before), NotBelowPoisson(sides.after));
  }
  std::vector<double> AdjustedP(const PathValues& values) const;
  void Add(std::uint32_t path, ValueKind kind);
  // Finds changes as measured, and changes relative to the other paths.
  void FindMeasured();
  void FindRelative();
  bool IsLargeEnough(const TwoSides& sides) const;
  void TestTotal(TotalChange& total) const;
  std::optional<double> AlikeP() const;
  std::vector<Change> Found() const;
  // Whether the changes reported further down leave nothing to report for the whole path.
  bool IsExplained(const TwoSides& whole, const Means& below) const;
  std::vector<bool> Explained() const;  // [path id]

  const Observed& observed_;
  const PathTable& paths_;
  const CompareOptions& options_;
  std::vector<Test> tests_;
  bool is_relative_ = false;  // also report changes relative to the other paths
};

std::vector<double> Tests::AdjustedP(const PathValues& values) const {
  std::vector<double> p;
  for (const Test& test : tests_) p.push_back(P(SidesOf(values, test)));
  return inference::AdjustForFalseDiscoveries(p);
}

void Tests::Add(std::uint32_t path, ValueKind kind) {
  const Test test = {.path = path, .kind = kind};
  if (HasEnough(MeasuredOf(test))) tests_.push_back(test);
}

bool Tests::IsLargeEnough(const TwoSides& sides) const {
  const TwoSides& all = observed_.measured.inclusive[0];
  const double total = std::max(all.before.mean, all.after.mean);
  const double change = std::abs(sides.difference());
  const bool is_constant = IsConstant(sides.before) && IsConstant(sides.after);
  const double least = is_constant ? options_.least_of_constant : options_.least_of_node;
  return change >= options_.least_of_total * total && change >= least * sides.before.mean &&
         change > 0;
}

void Tests::FindMeasured() {
  const std::vector<double> q = AdjustedP(observed_.measured);
  for (std::size_t i = 0; i < tests_.size(); ++i) {
    if (q[i] > options_.false_share || !IsLargeEnough(MeasuredOf(tests_[i]))) continue;
    tests_[i].is_found = true;
    tests_[i].q = q[i];
  }
}

void Tests::FindRelative() {
  const std::vector<double> q = AdjustedP(*observed_.relative);
  for (std::size_t i = 0; i < tests_.size(); ++i) {
    const TwoSides& measured = MeasuredOf(tests_[i]);
    const TwoSides& relative = SidesOf(*observed_.relative, tests_[i]);
    if (q[i] > options_.false_share || !IsLargeEnough(measured) || !IsLargeEnough(relative)) {
      continue;
    }
    if (measured.difference() / relative.difference() < kLeastMeasured) continue;
    tests_[i].is_found = true;
    tests_[i].q = std::min(tests_[i].q, q[i]);
  }
}

void Tests::TestTotal(TotalChange& total) const {
  const TwoSides& all = observed_.measured.inclusive[0];
  total.p = P(all);
  if (!HasEnough(all)) return;
  const bool is_change = *total.p <= options_.false_share && IsLargeEnough(all);
  total.verdict = !is_change             ? inference::Verdict::kNone
                  : all.difference() > 0 ? inference::Verdict::kMore
                                         : inference::Verdict::kLess;
}

std::optional<double> Tests::AlikeP() const {
  if (!observed_.relative) return std::nullopt;
  double sum = 0;
  double count = 0;
  for (const Test& test : tests_) {
    if (test.kind != ValueKind::kSelf) continue;
    const double p = std::max(P(SidesOf(*observed_.relative, test)), kLeastP);
    const double z = p >= 1 ? 0 : inference::NormalUpperQuantile(p / 2);
    sum += z * z;
    ++count;
  }
  if (count < 2) return std::nullopt;
  return inference::ChiSquaredUpperTail(sum, count - 1);
}

bool Tests::IsExplained(const TwoSides& whole, const Means& below) const {
  if ((below.after - below.before) / whole.difference() >= options_.explained) return true;
  // The rest of the path is assumed to have the same relative variation as the whole.
  const auto rest = [](inference::Moments moments, double reported) {
    const double left = std::max(0.0, moments.mean - reported);
    if (moments.mean > 0) moments.variance *= left * left / (moments.mean * moments.mean);
    moments.mean = left;
    return moments;
  };
  const TwoSides left = {.before = rest(whole.before, below.before),
                         .after = rest(whole.after, below.after)};
  return P(left) > options_.false_share;
}

std::vector<bool> Tests::Explained() const {
  const PathValues& values = is_relative_ ? *observed_.relative : observed_.measured;
  std::vector<Means> below(paths_.size());  // reported for a path and everything below it
  std::vector<bool> is_found(paths_.size());
  for (const Test& test : tests_) {
    if (!test.is_found) continue;
    const TwoSides& sides = SidesOf(values, test);
    if (test.kind == ValueKind::kSelf) below[test.path] = {sides.before.mean, sides.after.mean};
    if (test.kind == ValueKind::kInclusive) is_found[test.path] = true;
  }
  std::vector<bool> explained(paths_.size());
  for (std::size_t path = paths_.size(); path-- > 0;) {
    if (is_found[path]) {
      const TwoSides& whole = values.inclusive[path];
      explained[path] = IsExplained(whole, below[path]);
      if (!explained[path]) below[path] = {whole.before.mean, whole.after.mean};
    }
    if (path == 0) continue;
    Means& callers = below[paths_.parents()[path]];
    callers.before += below[path].before;
    callers.after += below[path].after;
  }
  return explained;
}

std::vector<Change> Tests::Found() const {
  const std::vector<bool> explained = Explained();
  std::vector<Change> found;
  for (const Test& test : tests_) {
    if (!test.is_found) continue;
    if (test.kind == ValueKind::kInclusive && explained[test.path]) continue;
    const TwoSides& sides = MeasuredOf(test);
    found.push_back({.path = PathId(test.path),
                     .kind = test.kind,
                     .before = sides.before.mean,
                     .after = sides.after.mean,
                     .q = test.q});
  }
  std::stable_sort(found.begin(), found.end(), [](const Change& a, const Change& b) {
    return std::abs(a.difference()) > std::abs(b.difference());
  });
  return found;
}

void Tests::Run(Comparison& comparison) {
  for (std::uint32_t path = 0; path < paths_.size(); ++path) {
    const TwoSides& self = observed_.measured.self[path];
    const TwoSides& inclusive = observed_.measured.inclusive[path];
    Add(path, ValueKind::kSelf);
    // For a leaf it would be the same test again.
    if (inclusive.before.mean != self.before.mean || inclusive.after.mean != self.after.mean) {
      Add(path, ValueKind::kInclusive);
    }
  }
  is_relative_ = observed_.relative && comparison.factor_p.value_or(0) > options_.false_share;
  FindMeasured();
  if (is_relative_) FindRelative();
  TestTotal(comparison.total);
  comparison.alike_p = AlikeP();
  comparison.tested = tests_.size();
  comparison.changes = Found();
}

}  // namespace

void FindCertain(const Observed& observed, const CompareOptions& options, Comparison& comparison) {
  const TwoSides& all = observed.measured.inclusive[0];
  comparison.total = {.before = all.before.mean, .after = all.after.mean};
  if (std::min(all.before.count, all.after.count) < inference::kTreeThresholds.least_values) return;
  Tests(observed, comparison.dictionary->paths, options).Run(comparison);
  comparison.is_enough = comparison.tested != 0;
}

}  // namespace fieldcost::tree
