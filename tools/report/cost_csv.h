#pragma once

#include <span>
#include <string>

#include "tools/analysis/summary.h"
#include "tools/report/csv_columns.h"

namespace fieldcost::report {

// One record per summary and metric: api, library, symbol, version, build_id, symbol_version,
// metric, unit, classes ("all", else names separated by |), first_week, last_week (days; empty =
// all), contributions, and the columns of figures and provenance (csv_columns.h).
std::string CostCsv(std::span<const analysis::CostSummary> summaries, const Provenance& provenance);

// One record per non-empty bucket: api ... last_week and contributions as above, min, max (both
// included), share (as in stats::Figures), few_machines, and over all calls count, sum,
// sum_of_squares (empty if omitted); source, snapshot, published, expired, synthetic.
std::string BucketCsv(std::span<const analysis::CostSummary> summaries,
                      const Provenance& provenance);

}  // namespace fieldcost::report
