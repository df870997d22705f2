#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/analysis/summary.h"
#include "tools/report/csv.h"

namespace fieldcost::report {

// Where numbers come from and how fresh they are: the last columns of every record.
struct Provenance {
  std::string source;          // "catalogue" or "local"
  std::uint64_t snapshot = 0;  // 0 = none
  std::string published;       // as FormatTime(); empty = not published
  bool expired = false;
  bool synthetic = false;
};

// A record for each metric of each summary: api, library, symbol, version, build_id,
// symbol_version, metric, unit, classes ("all", else names with | between), first_week, last_week
// (days; empty = all), contributions, figures, source, snapshot, published, expired, synthetic.
std::string CostCsv(std::span<const analysis::CostSummary> summaries, const Provenance& provenance);

// What all records with stats::Figures have: machines, count, sum, mean, p50, p50_low, p50_high,
// the same for p95 and p99; few_machines; and of all calls the same (all_calls_count ...; sums are
// exact), sum of squares and standard deviation. Empty = not known, or left out.
std::vector<std::string_view> FigureColumns();
void AddFigures(CsvWriter& csv, const stats::Figures& figures);

// A record for each bucket that is not empty: api ... last_week and contributions as above, min,
// max (both included), share (as in stats::Figures), few_machines, and of all calls count, sum,
// sum_of_squares (empty where these are left out); source, snapshot, published, expired, synthetic.
std::string BucketCsv(std::span<const analysis::CostSummary> summaries,
                      const Provenance& provenance);

}  // namespace fieldcost::report
