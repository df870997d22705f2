#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/stats/machine_comparison.h"
#include "common/stats/stat_row.h"
#include "tools/analysis/summary.h"

namespace fieldcost::analysis {

// What has changed between two versions of a library, from published rows. Pure functions.

// The test is among the machines of the fullest quarter of each side, where each is counted once
// (stats::WeekScalars); all else is of all weeks.

// Hardware classes that both versions have must hold this share of the machines of each, or all
// classes are compared together.
inline constexpr double kLeastCovered = 0.5;
inline constexpr double kConfidence = 0.95;  // of ratio_low to ratio_high

enum class Change {
  kTooLittleData,  // fewer than stats::kLeastCalls calls or kLeastMachines on either side
  kNone,           // no change shown: not significant, or smaller than the least effects
  kMore,           // slower; of bytes: more
  kLess,           // faster; of bytes: less
};
inline bool IsChange(Change change) { return change == Change::kMore || change == Change::kLess; }
// "too little data", "no change shown", and by the metric's unit "slower" and "faster", or "more"
// and "less".
std::string_view Name(Change change, stats::Metric metric);

// One metric of one API.
struct MetricChange {
  stats::Metric metric = stats::Metric::kWallTime;
  // The numbers of both versions, of all classes and weeks together.
  stats::Figures before;
  stats::Figures after;
  std::uint64_t timed_before = 0;  // measured values, whoever made them: what is eligible only
  std::uint64_t timed_after = 0;
  // Ratio of machines' geometric means, after to before, of all weeks; in classes if `classes` is
  // not 0. The interval is the confidence interval of the test, hence of the fullest quarters.
  double ratio = 1;
  double ratio_low = 0;
  double ratio_high = 0;
  double delta = 0;               // Cliff's, within the same strata
  stats::MachineComparison test;  // of machines
  double q = 1;                   // p after Benjamini and Hochberg; by Decide()
  std::uint32_t classes = 0;      // hardware classes compared each by itself; 0 = all in one
  Change change = Change::kTooLittleData;  // by Decide()

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
  std::vector<MetricChange> metrics;            // ascending; those that both versions have

  const MetricChange* Find(stats::Metric metric) const;
  MetricChange* Find(stats::Metric metric);
};

// Compares an API's rows of one version with those of another (of whatever builds, classes and
// weeks; not decided yet). Calls per run are no cost and not compared. REQUIRES: all rows of a side
// are of one soname, symbol, symbol version and package version, the same on both sides but for the
// version; neither is empty.
ApiChange CompareApi(std::span<const stats::StatRow> before, std::span<const stats::StatRow> after);

// Sets q and change of each, by Benjamini and Hochberg's procedure over the eligible of all of
// them. A change needs q <= stats::kFalseDiscoveries, and delta and ratio of the same direction of
// at least stats::kLeastDelta and stats::kLeastRatio (or 1 / kLeastRatio at most).
void Decide(std::span<MetricChange* const> changes);

// Everything about two versions of one library.
struct LibraryChange {
  std::string soname;
  std::string before;  // versions
  std::string after;
  std::vector<ApiChange> apis;       // ascending by symbol; decided
  std::vector<std::string> added;    // symbols measured in one of the versions only, ascending
  std::vector<std::string> removed;  // (which may be chance: not every API is measured everywhere)

  // APIs of which the metric has that change.
  std::uint64_t Count(stats::Metric metric, Change change) const;
};

// Takes in the APIs of one library one by one, so that only one's rows are in memory.
class LibraryComparison {
 public:
  // Compares all metrics, or one.
  LibraryComparison(std::string soname, std::string before, std::string after,
                    std::optional<stats::Metric> only = std::nullopt);

  // All rows of one symbol of the library; those of other versions are passed over.
  void Add(std::span<const stats::StatRow> rows);
  // Decides over everything added. To be called once.
  LibraryChange Finish();

 private:
  LibraryChange change_;
  std::optional<stats::Metric> only_;
};

}  // namespace fieldcost::analysis
