#pragma once

#include <span>
#include <string>

#include "common/draw/terminal.h"
#include "tools/analysis/summary.h"

namespace fieldcost::report {

// The table with a heading line: API, library, version, calls, contributions, p50, p95, p99, mean,
// total, bytes allocated per call, spectrum; "-" = not measured, or not known; "*" = of runs that
// began on busy machines, for want of others. All are
// stats::Figures: of published costs quantiles and spectrum are the typical machine's. Calls are
// the sum of calls_per_run, or the number of timed ones where that is not known or less; alloc/call
// is the mean of alloc_inclusive.
std::string CostTable(std::span<const analysis::CostSummary> summaries, const draw::Style& style);

// What a reader of that table must know of its numbers: "" or one line, with a line feed.
std::string TableNote(std::span<const analysis::CostSummary> summaries, const draw::Style& style);

// One spectrum a line, all on the same scale so that columns can be compared: name, n,
// contributions, p50, p99, spectrum; a legend from cold to hot below, and the strata. Lines are
// about `metric`; summaries without it are left out. Empty text if none has it.
std::string SpectrumTable(std::span<const analysis::CostSummary> summaries, stats::Metric metric,
                          const draw::Style& style);

}  // namespace fieldcost::report
