#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "common/stats/field_total.h"
#include "tools/analysis/selection.h"

namespace fieldcost::analysis {

// Makes of published or own rows what is known of each API. Pure functions of their arguments.

// What is known about one metric of one API: its widest strata together.
struct MetricSummary {
  stats::ApiSums sums;
  stats::Figures figures;  // what is shown of them
  Strata strata;           // of which these numbers are
};

// One line of the cost table: one API of one library version.
struct CostSummary {
  stats::ApiKey api;
  std::map<stats::Metric, MetricSummary> metrics;
  bool local_only = false;  // measured on this machine, and nothing of it is ever sent
  bool load_known = true;   // false for lab tables, which do not record the machine's load
  // shm::NotMeasured: why some metrics have no value in some runs, or in none.
  std::uint32_t not_measured = 0;

  // The metric's summary, nullptr if it was not measured.
  const MetricSummary* Find(stats::Metric metric) const;
  // That of times: with little load at the start of the run, or with some, if there are no others.
  const MetricSummary* FindTime() const;
  bool IsOnlyOfBusyMachines() const;
  // Whether the metric could not be measured in some run.
  bool IsPartly(stats::Metric metric) const;
};

// One summary per ApiKey, ascending. Where an API has both rows for all hardware classes and weeks
// (empty class, week 0) and rows for single ones, only the former are used, so that nothing counts
// twice.
std::vector<CostSummary> Summarise(std::span<const stats::StatRow> rows,
                                   stats::Whose whose = stats::Whose::kField);
// The same of some rows of many, which are large.
std::vector<CostSummary> Summarise(std::span<const stats::StatRow* const> rows,
                                   stats::Whose whose = stats::Whose::kField);

// How many calls of this API and version there were in the measured runs, and what calls have cost
// together (stats::FieldCalls, FieldTotal).
std::optional<std::uint64_t> CallsOf(const CostSummary& summary);
std::optional<stats::FieldCost> TotalOf(const CostSummary& summary);

enum class SortKey { kCalls, kP50, kP95, kP99, kMean, kTotal };
// nullopt if the text names none.
std::optional<SortKey> ParseSortKey(std::string_view text);

// A version's wall time in ns, or number of calls; -1 = not known. REQUIRES: not kTotal.
double ValueOf(const CostSummary& summary, SortKey key);

// Sorts by wall time, most expensive first; those without a known one last; equal ones by name.
// Totals of measured runs only come after those of all runs.
void Sort(std::vector<CostSummary>& summaries, SortKey key);

}  // namespace fieldcost::analysis
