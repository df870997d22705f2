#pragma once

#include <set>
#include <string>
#include <vector>

#include "common/draw/terminal.h"
#include "tools/analysis/summary.h"

namespace fieldcost::cli {

// What `fieldcost run` says of a run that has ended. Pure.

struct RunFindings {
  std::vector<analysis::CostSummary> summaries;  // of which calls were timed, most time first
  std::set<std::string> waiting;                 // untrusted symbols that were set apart
  bool any_fielded = false;  // a program was measured as one of the field: of one API or few
  bool empty() const { return summaries.empty() && waiting.empty(); }
};
// `with_waiting`: sets nothing apart (tools/analysis/waiting.h).
RunFindings FindingsOf(std::vector<analysis::CostSummary> summaries, bool any_fielded,
                       bool with_waiting);

// A line an API, the most expensive ones first, ten at most: API, library, N (calls that were
// timed), total, p50; what was set apart; what shows more. REQUIRES: not empty.
std::string RunTable(const RunFindings& found, const draw::Style& style);

// Instead of it: nothing was measured, for this reason ("" if none is known).
std::string NothingMeasuredText(const std::string& why);

}  // namespace fieldcost::cli
