#pragma once

#include <string>

#include "common/draw/terminal.h"
#include "tools/analysis/summary.h"

namespace fieldcost::report {

// Everything about one summary: each metric with its numbers, strata, guaranteed intervals and
// histogram; of published costs also those in which every call counts the same, where they agree.
std::string CostDetail(const analysis::CostSummary& summary, const draw::Style& style);

// One histogram a summary and metric, with its numbers and strata above it.
std::string HistogramDetail(const analysis::CostSummary& summary, const draw::Style& style);

}  // namespace fieldcost::report
