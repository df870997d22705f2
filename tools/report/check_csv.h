#pragma once

#include <string>

#include "tools/analysis/check_report.h"
#include "tools/report/csv_columns.h"

namespace fieldcost::report {

// One record per API: api, library, symbol, version, build_id, symbol_version, metric, verdict,
// compared_with, field_versions, n, contributions, machines, field_calls (empty if few_machines),
// few_machines, ratio, cliffs_delta, octaves_above_typical_machine, p_calls, p_calls_method,
// p_ranks, p_machines, t, degrees_of_freedom, skewness (empty if unknown), q, seed (hexadecimal),
// own_removed; source, snapshot, published, expired, synthetic.
std::string CheckCsv(const analysis::CheckReport& report, const Provenance& provenance);

}  // namespace fieldcost::report
