#pragma once

#include <string>

#include "tools/analysis/vendor_report.h"
#include "tools/report/csv_columns.h"

namespace fieldcost::report {

// One record per API, the most expensive first: library, symbol, symbol_version, name (demangled),
// namespace, calls, total_ns, share, contributions (of all versions), version (the newest), and for
// its wall time version_contributions and AddFigureColumns() (csv_columns.h); alloc_mean; before,
// after (versions), change, ratio, ratio_low, ratio_high, delta, p, q (of wall time; empty if not
// compared), regression_ns; other_changes ("alloc_inclusive more 2.10", separated by |); provenance
// as in CostCsv().
std::string VendorCsv(const analysis::VendorReport& report, const Provenance& provenance);

}  // namespace fieldcost::report
