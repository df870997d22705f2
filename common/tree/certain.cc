#include "common/tree/certain.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/stats/benjamini_hochberg.h"

namespace fieldcost::tree {
namespace {

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
  stats::Moments NotBelowPoisson(stats::Moments moments) const {
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
      {path, kind, stats::WelchP(NotBelowPoisson(sides.before), NotBelowPoisson(sides.after))});
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
    // For a leaf it would be the same question again.
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

}  // namespace

void FindCertain(const Observed& observed, const CompareOptions& options, Comparison& comparison) {
  const TwoSides& total = observed.inclusive[0];
  comparison.total_before = total.before.mean;
  comparison.total_after = total.after.mean;
  comparison.is_enough = total.before.count >= 2 && total.after.count >= 2;
  if (!comparison.is_enough) return;
  Tests(observed, comparison.dictionary->paths, options).Run(comparison);
}

}  // namespace fieldcost::tree
