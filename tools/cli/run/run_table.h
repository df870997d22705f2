#pragma once

#include <set>
#include <string>
#include <vector>

#include "common/draw/terminal.h"
#include "tools/analysis/summary.h"

namespace fieldcost::cli {

// The report of `fieldcost run` on a finished run. Pure.

struct RunFindings {
  std::vector<analysis::CostSummary> summaries;  // with timed calls, highest total time first
  std::set<std::string> waiting;                 // untrusted symbols set apart
  bool any_fielded = false;                      // one API or few were measured, as in the field
  bool empty() const { return summaries.empty() && waiting.empty(); }
};
// `with_waiting`: also lists functions that only wait (tools/analysis/waiting.h).
RunFindings FindingsOf(std::vector<analysis::CostSummary> summaries, bool any_fielded,
                       bool with_waiting);

// One line per API, the most expensive first, at most ten: API, library, N (timed calls), total,
// p50; then the names of functions that only wait, and the commands that show more. REQUIRES: not
// empty.
std::string RunTable(const RunFindings& found, const draw::Style& style);

// Printed if nothing was measured, with the reason ("" if unknown).
std::string NothingMeasuredText(const std::string& why);

}  // namespace fieldcost::cli
