#pragma once

#include <string>
#include <string_view>

#include "common/draw/terminal.h"
#include "common/stats/figures.h"

namespace fieldcost::report {

// Figures in words, as tables and details share them. Pure; thread-safe.

// For what was not measured, or is not known.
inline constexpr char kUnknown[] = "-";

// Of which runs times are, to follow the strata: programs that start while there is much to do are
// not measured, or apart. "" of other metrics.
std::string_view LoadText(stats::Metric metric);

// "1.2 us", or "-" if quantiles are not known.
std::string QuantileText(const stats::Figures& figures, stats::Quantile stats::Quantiles::*which,
                         stats::Metric metric, const draw::Style& style);

// "each of 12 contributions counts the same", and how many have no weight. REQUIRES: machines != 0.
std::string MachinesText(const stats::Figures& figures);
// Why figures of all calls are missing; "" where they are there.
std::string AllCallsText(const stats::Figures& figures);
inline constexpr std::string_view kFewMachinesText = "a few machines made most of these calls";

}  // namespace fieldcost::report
