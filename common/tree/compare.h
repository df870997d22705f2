#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/tree/mean_tree.h"
#include "common/tree/tree.h"

namespace fieldcost::tree {

// What changed between two builds, and is that certain? Runs are the observations. The only
// floating point of trees. Pure functions, thread-safe.

struct CompareOptions {
  double least_samples = 20;      // per run, on the side that has more; of sampled metrics
  double false_share = 0.05;      // of what is found, at most so much is expected to be wrong
  double least_of_total = 0.001;  // changes below this share of the whole are not worth a word,
  double least_of_node = 0.05;    // nor are those below this share of what the path had before
  // Whether a change common to all paths is removed first. Switch it off for values that do not
  // depend on the speed of the machine, such as idle time.
  bool common_factor = true;
  double explained = 0.8;  // what so much of is found further down is not told of the path itself
};

enum class ValueKind : std::uint8_t { kSelf, kInclusive };

struct Change {
  PathId path;
  ValueKind kind = ValueKind::kSelf;
  // Mean of a run, in the metric's unit, as it would be without the common factor.
  double before = 0;
  double after = 0;
  double q = 1;  // p adjusted for all that was tested (Benjamini and Hochberg)
  double difference() const { return after - before; }
};

struct Comparison {
  std::shared_ptr<const Dictionary> dictionary;
  // False if a side has only one run: then nothing is known of how much runs differ, there is no
  // verdict, and `changes` is empty.
  bool is_enough = false;
  // The change common to all paths: 1.06 is 6 % slower. Changes are reported beside it.
  double factor = 1;
  std::optional<double> factor_p;  // two-sided; nullopt if the runs' own factors are not known
  double total_before = 0;         // of a run, without the factor
  double total_after = 0;
  std::uint64_t tested = 0;     // self and inclusive values with enough samples
  std::vector<Change> changes;  // certain and worth a word; the greatest difference first
};

// Each tree is one run; one of several runs counts as their mean. First each run's common factor is
// taken out, if it is to be: the median, weighted by cost, of what its paths have above their mean
// over all runs. A change of most of the costs cannot be told from such a factor. Then Welch's test
// on self and inclusive values, of sampled metrics with no less variance than samples of a constant
// rate have (Poisson). kInvalidArgument as MatchMetrics(), or if a tree does not have that metric;
// kTooLarge beyond limits. REQUIRES: a tree on each side.
Result<Comparison> Compare(std::span<const Tree> before, std::span<const Tree> after,
                           std::string_view metric, const CompareOptions& options = {});

// The same of sums over runs, whose own factors are no longer known: only the factor between the
// sides is taken out, so less is certain. kInvalidArgument if it does not have that metric.
Result<Comparison> Compare(const MeanTree& difference, std::string_view metric,
                           const CompareOptions& options = {});

}  // namespace fieldcost::tree
