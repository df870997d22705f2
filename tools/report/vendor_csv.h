#pragma once

#include <string>

#include "tools/analysis/vendor_report.h"
#include "tools/report/csv_columns.h"

namespace fieldcost::report {

// One record per API, the most expensive first: library, symbol, symbol_version, name (demangled),
// namespace, group (as below), calls, total_ns, share, contributions (of all versions), version
// (the newest), and for its wall time version_contributions and AddFigureColumns() (csv_columns.h);
// alloc_mean; before, after (versions), change, ratio, ratio_low, ratio_high, delta, p, q (of wall
// time; empty if not compared), regression_ns; other_changes ("alloc_inclusive more 2.10",
// separated by |); provenance as in CostCsv().
std::string VendorCsv(const analysis::VendorReport& report, const Provenance& provenance);

// One record per group, the most expensive first: group, library, apis, timed_apis, calls,
// total_ns, total_standard_error_ns, total_of, share, contributions (of the API that has the most);
// of wall time AddFigureColumns(), buckets ("64 0.25|128 0.75": each bucket's least value and
// share) and all_calls_buckets (with numbers of calls; exactly the sum of the APIs' histograms);
// slower, faster, unchanged, too_little_data (numbers of APIs), change, ratio, ratio_low,
// ratio_high, p, q; provenance. Empty = not measured.
std::string VendorGroupCsv(const analysis::VendorReport& report, const Provenance& provenance);

}  // namespace fieldcost::report
