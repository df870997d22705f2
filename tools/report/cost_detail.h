#pragma once

#include <string>

#include "common/draw/terminal.h"
#include "tools/analysis/summary.h"

namespace fieldcost::report {

// Everything about one summary: each metric with its numbers, strata, guaranteed intervals and
// histogram; for published costs also those that weight every call equally, where they agree.
std::string CostDetail(const analysis::CostSummary& summary, const draw::Style& style);

// A readable summary: time, allocation, calls per run and the total in full words, every other
// metric in one line; metrics that are all zero, or equal to another, are only named.
std::string CostBrief(const analysis::CostSummary& summary, const draw::Style& style);

// One histogram per summary and metric, with its numbers and strata above it.
std::string HistogramDetail(const analysis::CostSummary& summary, const draw::Style& style);

}  // namespace fieldcost::report
