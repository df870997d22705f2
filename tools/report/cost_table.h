#pragma once

#include <optional>
#include <span>
#include <string>

#include "common/draw/terminal.h"
#include "tools/analysis/api_cost.h"

namespace fieldcost::report {

// A table with a heading and one line per API: total, its share of `whole` (if known), name,
// library, n, p50, p95, p99, mean, calls, contributions, bytes allocated per call, version,
// spectrum; as many of these columns as fit the terminal. Total and calls include all given
// versions; the other columns describe the shown one.
//
// "-" = not measured, unknown, or too few values; "*" = only runs that began on busy machines are
// available. All numbers are stats::Figures: quantiles and spectrum of published costs are those of
// the typical machine. n is the number of timed calls, calls the number of all calls (the sum of
// calls_per_run, or the number of timed calls if that is unknown or smaller); alloc/call is the
// mean of alloc_inclusive. Spectra share one scale, which the last line shows.
std::string CostTable(std::span<const analysis::ApiCost> costs,
                      const std::optional<stats::FieldCost>& whole, const draw::Style& style);

// A remark that readers need to interpret the table's numbers: "" or one line with a newline.
std::string TableNote(std::span<const analysis::ApiCost> costs, const draw::Style& style);

// One spectrum per line, all on the same scale so that columns can be compared: name, n,
// contributions, p50, p99, spectrum; below them a legend from cheap to expensive, and the strata.
// Shows `metric`; omits summaries without it. Empty if none has it.
std::string SpectrumTable(std::span<const analysis::CostSummary> summaries, stats::Metric metric,
                          const draw::Style& style);

}  // namespace fieldcost::report
