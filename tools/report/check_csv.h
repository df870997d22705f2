#pragma once

#include <string>

#include "tools/analysis/check_report.h"
#include "tools/report/cost_csv.h"

namespace fieldcost::report {

// A record for each API: api, library, symbol, version, build_id, symbol_version, metric, verdict,
// compared_with, field_versions, n, contributions, machines, field_calls (empty if few_machines),
// few_machines, ratio, cliffs_delta, octaves_above_typical_machine, p_calls, p_calls_method,
// p_ranks, p_machines, t, degrees_of_freedom, skewness (empty if
// not known), q, seed (hexadecimal), own_removed,
// snapshot, published, expired, synthetic.
std::string CheckCsv(const analysis::CheckReport& report, const Provenance& provenance);

}  // namespace fieldcost::report
