#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/stats/field_total.h"
#include "tools/report/selection.h"
#include "tools/report/terminal.h"

namespace fieldcost::report {

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

  // The metric's summary, nullptr if it was not measured.
  const MetricSummary* Find(stats::Metric metric) const;
  // That of times: with little load at the start of the run, or with some, if there are no others.
  const MetricSummary* FindTime() const;
  bool IsOnlyOfBusyMachines() const;
};

// One summary per ApiKey, ascending. Where an API has both rows for all hardware classes and weeks
// (empty class, week 0) and rows for single ones, only the former are used, so that nothing counts
// twice.
std::vector<CostSummary> Summarise(std::span<const stats::StatRow> rows,
                                   stats::Whose whose = stats::Whose::kField);

// How many calls of this API and version there were in the measured runs, and what calls have cost
// together (stats::FieldCalls, FieldTotal).
std::optional<std::uint64_t> CallsOf(const CostSummary& summary);
std::optional<stats::FieldCost> TotalOf(const CostSummary& summary);

enum class SortKey { kCalls, kP50, kP95, kP99, kMean, kTotal };
// nullopt if the text names none.
std::optional<SortKey> ParseSortKey(std::string_view text);

// By wall time, dearest first; those of which it is not known last; equal ones by name. Totals of
// measured runs only come after those of all runs.
void Sort(std::vector<CostSummary>& summaries, SortKey key);

// The table with a heading line: API, library, version, calls, contributions, p50, p95, p99, mean,
// total, bytes allocated per call, spectrum; "-" = not measured, or not known; "*" = of runs that
// began on busy machines, for want of others. All are
// stats::Figures: of published costs quantiles and spectrum are the typical machine's. Calls are
// the sum of calls_per_run, or the number of timed ones where that is not known or less; alloc/call
// is the mean of alloc_inclusive.
std::string CostTable(std::span<const CostSummary> summaries, const Style& style);

// Of which runs times are, to follow the strata: programs that start while there is much to do are
// not measured, or apart. "" of other metrics.
std::string_view LoadText(stats::Metric metric);

// What a reader of that table must know of its numbers: "" or one line, with a line feed.
std::string TableNote(std::span<const CostSummary> summaries, const Style& style);

// "1.2 us", or "-" if quantiles are not known.
std::string QuantileText(const stats::Figures& figures, stats::Quantile stats::Quantiles::*which,
                         stats::Metric metric, const Style& style);

// "each of 12 contributions counts the same", and how many have no weight. REQUIRES: machines != 0.
std::string MachinesText(const stats::Figures& figures);
// Why figures of all calls are missing; "" where they are there.
std::string AllCallsText(const stats::Figures& figures);
inline constexpr std::string_view kFewMachinesText = "a few machines made most of these calls";

// Everything about one summary: each metric with its numbers, strata, guaranteed intervals and
// histogram; of published costs also those in which every call counts the same, where they agree.
std::string CostDetail(const CostSummary& summary, const Style& style);

// One histogram a summary and metric, with its numbers and strata above it.
std::string HistogramDetail(const CostSummary& summary, const Style& style);

// One spectrum a line, all on the same scale so that columns can be compared: name, n,
// contributions, p50, p99, spectrum; a legend from cold to hot below, and the strata. Lines are
// about `metric`; summaries without it are left out. Empty text if none has it.
std::string SpectrumTable(std::span<const CostSummary> summaries, stats::Metric metric,
                          const Style& style);

}  // namespace fieldcost::report
