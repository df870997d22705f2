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
#include "tools/report/terminal.h"

namespace fieldcost::report {

// What is known about one metric of one API: its widest strata together.
struct MetricSummary {
  stats::CostHistogram histogram;
  std::uint64_t contributions = 0;
  stats::Quantile p50;
  stats::Quantile p95;
  stats::Quantile p99;
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

enum class SortKey { kCalls, kP50, kP95, kP99, kMean, kTotal };
// nullopt if the text names none.
std::optional<SortKey> ParseSortKey(std::string_view text);

// By wall time, dearest first; APIs without wall time last; equal ones by name. The total counts
// calls that were only counted with the mean of those that were timed.
void Sort(std::vector<CostSummary>& summaries, SortKey key);

// The table with a heading line: API, library, version, calls, contributions, p50, p95, p99, mean,
// bytes allocated per call, spectrum. Calls are the sum of
// calls_per_run, or the number of timed ones where that is not known or less; alloc/call is the
// mean of alloc_inclusive; "-" = not measured.
std::string CostTable(std::span<const CostSummary> summaries, const Style& style);

// Everything about one summary: each metric with its numbers, guaranteed intervals and histogram.
std::string CostDetail(const CostSummary& summary, const Style& style);

}  // namespace fieldcost::report
