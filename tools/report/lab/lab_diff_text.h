#pragma once

#include <string>
#include <vector>

#include "common/draw/terminal.h"
#include "tools/analysis/lab_change.h"
#include "tools/analysis/lab_counts.h"

namespace fieldcost::report {

// Changes between two lab tables, as text and CSV. Deterministic; everything is escaped.

// A table of the slower and faster APIs, or with `all` of every API; then the number of the others,
// and the method of comparison.
std::string LabDiffText(const std::vector<analysis::LabChange>& changes, bool all,
                        const draw::Style& style);

// One record per API and metric: soname, symbol, symbol_version, metric, change, ratio, ratio_low,
// ratio_high, cliffs_delta, p, q, runs_before, runs_after, timed_before, timed_after, mean_before,
// mean_after, p50_before, p50_after, least_before, most_before, least_after, most_after,
// regression. The last five are set only for counts, for which ratio .. p50_after are empty except
// for the runs.
std::string LabDiffCsv(const std::vector<analysis::LabChange>& changes,
                       const analysis::LabCounts& counts);

}  // namespace fieldcost::report
