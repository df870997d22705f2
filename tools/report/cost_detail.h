#pragma once

#include <string>

#include "common/draw/terminal.h"
#include "tools/analysis/summary.h"

namespace fieldcost::report {

// Everything about one summary: each metric with its numbers, strata, guaranteed intervals and
// histogram; for published costs also the numbers that weight every call equally, if available.
std::string CostDetail(const analysis::CostSummary& summary, const draw::Style& style);

// A brief summary: time, allocation, calls per run and the total in full, every other metric in one
// line; metrics that are all zero, or equal to another, are only named.
std::string CostBrief(const analysis::CostSummary& summary, const draw::Style& style);

// One histogram per summary and metric, below its numbers and strata.
std::string HistogramDetail(const analysis::CostSummary& summary, const draw::Style& style);

}  // namespace fieldcost::report
