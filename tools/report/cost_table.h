#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/stats/quantiles.h"
#include "common/stats/stat_row.h"
#include "tools/report/selection.h"
#include "tools/report/terminal.h"

namespace fieldcost::report {

struct Quantiles {
  stats::Quantile p50;
  stats::Quantile p95;
  stats::Quantile p99;
};

// What is known about one metric of one API: its widest strata together.
struct MetricSummary {
  stats::CostHistogram histogram;
  stats::AgentWeights weights;
  std::uint64_t contributions = 0;
  // The typical call: every call counts the same.
  stats::Quantile p50;
  stats::Quantile p95;
  stats::Quantile p99;
  // The typical machine: every contribution counts the same, however many calls it has. Of this
  // many of the contributions; 0 = not known (measured here, or published before weights were).
  std::uint64_t machines = 0;
  Quantiles machine;
  Strata strata;  // of which these numbers are
};

// One line of the cost table: one API of one library version.
struct CostSummary {
  stats::ApiKey api;
  std::map<stats::Metric, MetricSummary> metrics;

  // The metric's summary, nullptr if it was not measured.
  const MetricSummary* Find(stats::Metric metric) const;
};

// One summary per ApiKey, ascending. Where an API has both rows for all hardware classes and weeks
// (empty class, week 0) and rows for single ones, only the former are used, so that nothing counts
// twice.
std::vector<CostSummary> Summarise(std::span<const stats::StatRow> rows);

// What all calls of this API and version have cost together, in ns (stats::FieldTotal).
double TotalOf(const CostSummary& summary);

enum class SortKey { kCalls, kP50, kP95, kP99, kMean, kTotal };
// nullopt if the text names none.
std::optional<SortKey> ParseSortKey(std::string_view text);

// By wall time, dearest first; APIs without wall time last; equal ones by name. The total counts
// calls that were only counted with the mean of those that were timed.
void Sort(std::vector<CostSummary>& summaries, SortKey key);

// The table with a heading line: API, library, version, calls, contributions, p50, p95, p99, mean,
// where any is known p50, p95, p99 of the typical machine (M-P50 ...), bytes allocated per call,
// spectrum. Calls are the sum of
// calls_per_run, or the number of timed ones where that is not known or less; alloc/call is the
// mean of alloc_inclusive; "-" = not measured.
std::string CostTable(std::span<const CostSummary> summaries, const Style& style);

// Whether the table has columns of the typical machine.
bool HasMachines(std::span<const CostSummary> summaries);
// "each of 12 contributions counts the same", and how many have no weight. REQUIRES: machines != 0.
std::string MachinesText(const MetricSummary& summary);

// Everything about one summary: each metric with its numbers, strata, guaranteed intervals and
// histogram.
std::string CostDetail(const CostSummary& summary, const Style& style);

// One histogram a summary and metric, with its numbers and strata above it.
std::string HistogramDetail(const CostSummary& summary, const Style& style);

// One spectrum a line, all on the same scale so that columns can be compared: name, n,
// contributions, p50, p99, spectrum; a legend from cold to hot below, and the strata. Lines are
// about `metric`; summaries without it are left out. Empty text if none has it.
std::string SpectrumTable(std::span<const CostSummary> summaries, stats::Metric metric,
                          const Style& style);

}  // namespace fieldcost::report
