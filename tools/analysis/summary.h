#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "common/stats/field_total.h"
#include "tools/analysis/row_selection.h"

namespace fieldcost::analysis {

// Summarises each API from published or own rows. Pure functions of their arguments.

// The summary of one metric of one API: its widest strata together.
struct MetricSummary {
  stats::ApiSums sums;
  stats::Figures figures;  // the figures to show
  Strata strata;           // that these numbers cover
};

// One line of the cost table: one API of one library version.
struct CostSummary {
  stats::ApiKey api;
  std::map<stats::Metric, MetricSummary> metrics;
  bool local_only = false;  // measured on this machine and never sent
  bool load_known = true;   // false for lab tables, which do not record the machine's load
  // shm::NotMeasured: why some metrics have no value in some or all runs.
  std::uint32_t not_measured = 0;

  // The metric's summary, nullptr if it was not measured.
  const MetricSummary* Find(stats::Metric metric) const;
  // The summary of times: from runs started at low load or, if none, at higher load.
  const MetricSummary* FindTime() const;
  bool IsOnlyOfBusyMachines() const;
  // Whether the metric could not be measured in some run.
  bool IsPartly(stats::Metric metric) const;
};

// One summary per ApiKey, ascending. If an API has both rows over all hardware classes and weeks
// (empty class, week 0) and rows for single ones, only the former are used, so that nothing is
// counted twice.
std::vector<CostSummary> Summarise(std::span<const stats::StatRow> rows,
                                   stats::Whose whose = stats::Whose::kField);
// The same for a selection of rows, without copying them.
std::vector<CostSummary> Summarise(std::span<const stats::StatRow* const> rows,
                                   stats::Whose whose = stats::Whose::kField);

// The number of calls of this API and version in the measured runs, and the total cost of calls
// (stats::FieldCalls, FieldTotal).
std::optional<std::uint64_t> CallsOf(const CostSummary& summary);
std::optional<stats::FieldCost> TotalOf(const CostSummary& summary);

enum class SortKey { kCalls, kP50, kP95, kP99, kMean, kTotal };
// nullopt if there is no such key.
std::optional<SortKey> ParseSortKey(std::string_view text);

// A version's wall time in ns, or number of calls; -1 = unknown. REQUIRES: not kTotal.
double ValueOf(const CostSummary& summary, SortKey key);

// Sorts by wall time, most expensive first; those with unknown time last; ties by name. Totals over
// measured runs only come after totals over all runs.
void Sort(std::vector<CostSummary>& summaries, SortKey key);

}  // namespace fieldcost::analysis
