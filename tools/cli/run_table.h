#pragma once

#include <span>
#include <string>
#include <vector>

#include "common/draw/terminal.h"
#include "tools/analysis/summary.h"

namespace fieldcost::cli {

// What `fieldcost run` says of a run that has ended. Pure.

// Those of which calls were timed, by the time that these took together, the longest first.
std::vector<analysis::CostSummary> RunLines(std::vector<analysis::CostSummary> summaries);

// A line an API, the most expensive ones first, ten at most: API, library, N (calls that were
// timed), total, p50, and what shows more. REQUIRES: RunLines(), not empty.
// `any_fielded`: a program of the run was measured as one of the field, so of one API or few.
std::string RunTable(std::span<const analysis::CostSummary> summaries, bool any_fielded,
                     const draw::Style& style);

// Instead of it: nothing was measured, for this reason ("" if none is known).
std::string NothingMeasuredText(const std::string& why);

}  // namespace fieldcost::cli
