#pragma once

#include <optional>
#include <span>
#include <string>

#include "common/draw/terminal.h"
#include "tools/analysis/api_cost.h"

namespace fieldcost::report {

// The table with a heading line, one line per API: total, its share of `whole` (if known), name,
// library, n, p50, p95, p99, mean, calls, contributions, bytes allocated per call, version,
// spectrum; as many of these columns as the terminal has room for. Total and calls are those of all
// versions given, the rest is of the shown one.
//
// "-" = not measured, not known, or too few values; "*" = only runs that began on busy machines
// are available. All are stats::Figures: quantiles and spectrum of published costs are those of the
// typical machine. N is the number of timed calls, calls the number of all calls (the sum of
// calls_per_run, or the number of timed ones if that is unknown or smaller); alloc/call is the mean
// of alloc_inclusive. Spectra are on one scale, which the last line shows.
std::string CostTable(std::span<const analysis::ApiCost> costs,
                      const std::optional<stats::FieldCost>& whole, const draw::Style& style);

// Remark that readers of that table need to interpret its numbers: "" or one line, with a line
// feed.
std::string TableNote(std::span<const analysis::ApiCost> costs, const draw::Style& style);

// One spectrum per line, all on the same scale so that columns can be compared: name, n,
// contributions, p50, p99, spectrum; a legend from cheap to expensive below, and the strata. Lines
// are about `metric`; summaries without it are left out. Empty text if none has it.
std::string SpectrumTable(std::span<const analysis::CostSummary> summaries, stats::Metric metric,
                          const draw::Style& style);

}  // namespace fieldcost::report
