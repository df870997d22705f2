#pragma once

#include <span>
#include <string>

#include "tools/analysis/summary.h"
#include "tools/report/csv_columns.h"

namespace fieldcost::report {

// A record for each metric of each summary: api, library, symbol, version, build_id,
// symbol_version, metric, unit, classes ("all", else names with | between), first_week, last_week
// (days; empty = all), contributions, and the columns of figures and provenance (csv_columns.h).
std::string CostCsv(std::span<const analysis::CostSummary> summaries, const Provenance& provenance);

// A record for each bucket that is not empty: api ... last_week and contributions as above, min,
// max (both included), share (as in stats::Figures), few_machines, and of all calls count, sum,
// sum_of_squares (empty where these are left out); source, snapshot, published, expired, synthetic.
std::string BucketCsv(std::span<const analysis::CostSummary> summaries,
                      const Provenance& provenance);

}  // namespace fieldcost::report
