#pragma once

#include <string>

#include "common/draw/terminal.h"
#include "tools/analysis/vendor_report.h"
#include "tools/report/cost_csv.h"

namespace fieldcost::report {

// The vendor report for terminals and spreadsheets. Deterministic; everything is escaped.

// APIs at most that the text names in each part.
inline constexpr std::size_t kMaxTextApis = 40;
std::string VendorText(const analysis::VendorReport& report, const draw::Style& style);

// A record for each API, the dearest first: library, symbol, symbol_version, name (demangled),
// namespace, calls, total_ns, share, contributions (of all versions), version (the newest), and of
// its wall time version_contributions and FigureColumns() (cost_csv.h); alloc_mean; before, after
// (versions), change, ratio, ratio_low, ratio_high, delta, p, q (of wall time; empty if not
// compared), regression_ns; other_changes ("alloc_inclusive more 2.10" with | between); provenance
// as in CostCsv().
std::string VendorCsv(const analysis::VendorReport& report, const Provenance& provenance);

// "12 %", "0.3 %", "<0.1 %".
std::string ShareText(double share);

}  // namespace fieldcost::report
