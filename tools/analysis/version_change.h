#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/inference/machine_comparison.h"
#include "common/inference/verdict.h"
#include "common/stats/stat_row.h"
#include "tools/analysis/summary.h"

namespace fieldcost::analysis {

// Changes between two versions of a library, from published rows. Pure functions.

// The test uses the machines of each side's fullest quarter, in which each is counted once
// (stats::QuarterScalars); everything else covers all weeks.

// The hardware classes that both versions have must hold at least this share of the machines of
// each; otherwise all classes are compared together.
inline constexpr double kLeastCovered = 0.5;
inline constexpr double kConfidence = 0.95;  // of the interval from ratio_low to ratio_high

// The words for a verdict about a metric: "slower" or, unless it is a time, "more"; and so on.
std::string_view Words(inference::Verdict verdict, stats::Metric metric);

// One metric of one API.
struct MetricChange {
  stats::Metric metric = stats::Metric::kWallTime;
  // The numbers of both versions over all classes and weeks.
  stats::Figures before;
  stats::Figures after;
  std::uint64_t timed_before = 0;  // measured values; used only for eligibility
  std::uint64_t timed_after = 0;
  // The ratio of machines' geometric means, after to before, over all weeks; within classes if
  // `classes` is not 0. The interval is the test's confidence interval, hence for the fullest
  // quarters.
  double ratio = 1;
  double ratio_low = 0;
  double ratio_high = 0;
  double delta = 0;                   // Cliff's, within the same strata
  inference::MachineComparison test;  // of machines
  double q = 1;                       // p adjusted by Benjamini and Hochberg; set by Decide()
  std::uint32_t classes = 0;          // hardware classes compared separately; 0 = all together
  inference::Verdict change = inference::Verdict::kTooLittleData;  // set by Decide()

  bool eligible() const;
};

// One API in two versions of its library.
struct ApiChange {
  std::string soname;
  std::string symbol;
  std::string symbol_version;
  std::optional<std::uint64_t> calls_before;  // timed or not, as in the cost table
  std::optional<std::uint64_t> calls_after;
  std::optional<stats::FieldCost> total_after;  // likewise
  std::vector<MetricChange> metrics;            // ascending; only metrics that both versions have

  const MetricChange* Find(stats::Metric metric) const;
  MetricChange* Find(stats::Metric metric);
};

// Compares an API's rows of one version with those of another (any builds, classes and weeks)
// without deciding. Calls per run are not a cost and are not compared. REQUIRES: neither side is
// empty; all rows of a side have the same soname, symbol, symbol version and package version, and
// the sides differ only in the package version.
ApiChange CompareApi(std::span<const stats::StatRow> before, std::span<const stats::StatRow> after);

// Sets q and change of each metric by Benjamini and Hochberg's procedure over all eligible ones. A
// change needs the effects of inference::kFieldThresholds, and a test in the same direction.
void Decide(std::span<MetricChange* const> changes);

// All changes between two versions of one library.
struct LibraryChange {
  std::string soname;
  std::string before;  // versions
  std::string after;
  std::vector<ApiChange> apis;       // ascending by symbol; decided
  std::vector<std::string> added;    // symbols measured in only one version, ascending
  std::vector<std::string> removed;  // (may be chance: not every API is measured everywhere)

  // The APIs whose metric has this change.
  std::uint64_t Count(stats::Metric metric, inference::Verdict change) const;
};

// Receives the APIs of one library one by one, so that only one API's rows are in memory.
class LibraryComparison {
 public:
  // Compares all metrics, or only one.
  LibraryComparison(std::string soname, std::string before, std::string after,
                    std::optional<stats::Metric> only = std::nullopt);

  // Adds all rows of one symbol of the library; ignores those of other versions.
  void Add(std::span<const stats::StatRow> rows);
  // Decides over everything added. Call this once.
  LibraryChange Finish();

 private:
  LibraryChange change_;
  std::optional<stats::Metric> only_;
};

}  // namespace fieldcost::analysis
