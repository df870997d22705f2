#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/inference/verdict.h"
#include "common/inference/welch.h"
#include "common/tree/mean_tree.h"
#include "common/tree/tree.h"

namespace fieldcost::tree {

// Determines what changed between two builds, and whether the change is certain. Runs are the
// observations. Only here do trees use floating point. Pure functions, thread-safe.

struct CompareOptions {
  double least_samples = 20;  // per run, on the side with more; for sampled metrics
  // The maximum expected share of false findings; also the greatest p at which the whole, or the
  // common factor of the sides, counts as changed.
  double false_share = inference::kTreeThresholds.false_share;
  // Smaller changes are not reported: below this share of the whole, or below this share of the
  // previous cost of the path (or of the whole).
  double least_of_total = 0.001;
  double least_of_node = 0.05;
  // Replaces least_of_node for values that do not vary within a side and so need no margin.
  double least_of_constant = 0.05;
  // Whether values depend on the speed of the machine, which all paths of a run have in common.
  bool depends_on_speed = true;
  // A path is not reported if this share of its change is reported for its callees.
  double explained = 0.8;
};

// The options for a metric, chosen by its name. CPU time depends on the speed of the machine;
// counts, bytes and waits do not. Calls and other counts that a program determines are reported
// regardless of their share. Bytes that are equal in all runs of a side are reported down to a
// thousandth of the whole, since the length of the program's own name changes a few bytes.
CompareOptions CompareOptionsFor(const Metric& metric);

enum class ValueKind : std::uint8_t { kSelf, kInclusive };

struct Change {
  PathId path;
  ValueKind kind = ValueKind::kSelf;
  // Mean per run, in the metric's unit, as measured.
  double before = 0;
  double after = 0;
  double q = 1;  // p adjusted for the number of tests (Benjamini and Hochberg)
  double difference() const { return after - before; }
};

// The total of a run, tested as a separate value.
struct TotalChange {
  double before = 0;  // mean per run, as measured
  double after = 0;
  std::optional<double> p;  // two-sided; nullopt if there is no verdict
  inference::Verdict verdict = inference::Verdict::kTooLittleData;
  double difference() const { return after - before; }
};

struct Comparison {
  std::shared_ptr<const Dictionary> dictionary;
  // False if a side has only one run, so that the variation between runs is unknown, or if no value
  // has enough samples or any cost. There is then no verdict, and `changes` is empty.
  bool is_enough = false;
  TotalChange total;
  // The common change of all paths: 1.06 is 6 % slower. Not removed from any value above or below.
  // 1 for metrics that do not depend on the speed of the machine.
  double factor = 1;
  std::optional<double> factor_p;  // two-sided; nullopt if the runs' own factors are unknown
  // Whether the paths' own changes agree with the factor within their errors: the probability of
  // such differences if they do (Cochran's Q). nullopt with fewer than two paths.
  std::optional<double> alike_p;
  std::uint64_t tested = 0;     // self and inclusive values with enough samples
  std::vector<Change> changes;  // certain and large enough; the greatest difference first

  // Whether the whole changed and the paths' ratios agree within their errors.
  bool AreAllAlike() const;
  // Whether the whole or any path costs more.
  bool HasIncrease() const;
};

// Each tree is one run; a tree of several runs counts as their mean. A path changed if
// - Welch's test finds a difference between the values as measured, or
// - it finds one relative to the other paths of the same run, which is unaffected by a machine that
//   is busy during a whole run: each run's values are divided by its common factor, the median of
//   the ratios of its paths to their means. The measured values must have changed, too, and this
//   test counts only if the common factors of the two sides do not differ significantly: otherwise
//   most of the program may have changed.
// Nothing is normalised between the sides: all reported values are as measured. The variance of
// sampled metrics is assumed to be at least that of a constant rate (Poisson). kInvalidArgument as
// for MatchMetrics(), or if a tree lacks the metric; kTooLarge beyond limits. REQUIRES: a tree on
// each side.
Result<Comparison> Compare(std::span<const Tree> before, std::span<const Tree> after,
                           std::string_view metric, const CompareOptions& options = {});

// The same for sums over runs, whose individual factors are unknown: only values as measured are
// tested, so less is certain. kInvalidArgument if a tree lacks the metric.
Result<Comparison> Compare(const MeanTree& difference, std::string_view metric,
                           const CompareOptions& options = {});

// Mean and variance per run of one side of a MeanTree with that denominator, whose side has that
// many runs. All zero without runs.
inference::Moments MomentsOf(const SideSum& side, std::uint64_t runs, std::uint64_t denominator);

}  // namespace fieldcost::tree
