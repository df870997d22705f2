#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/draw/terminal.h"
#include "common/stats/field_total.h"
#include "common/stats/figures.h"

namespace fieldcost::report {

// Figures in words, as tables and details share them. Pure; thread-safe.

// For what was not measured, or is not known.
inline constexpr char kUnknown[] = "-";

// Which runs times are from, to follow the strata: programs that start under load are measured
// apart, under much load not at all. "" for other metrics.
std::string_view LoadText(stats::Metric metric);

// How many values the quantiles are of: those timed; where that is not known, those they stand for.
std::optional<std::uint64_t> TimedCalls(const stats::Figures& figures);

// Fewer values do not tell a quantile: it would be the largest of them.
inline constexpr std::uint64_t kLeastForP99 = 100;
inline constexpr std::uint64_t kLeastForP95 = 20;

// "1.2 us", or "-" if quantiles are not known, or there are too few values for this one.
std::string QuantileText(const stats::Figures& figures, stats::Quantile stats::Quantiles::*which,
                         stats::Metric metric, const draw::Style& style);

// "26 h estimated, all runs", or "26 h in measured runs"; "-" if not known.
std::string EstimateText(const std::optional<stats::FieldCost>& total, const draw::Style& style);

// "each of 12 contributions counts the same", and how many have no weight. REQUIRES: machines != 0.
std::string MachinesText(const stats::Figures& figures);
// Why figures of all calls are missing; "" where they are there.
std::string AllCallsText(const stats::Figures& figures);
inline constexpr std::string_view kFewMachinesText = "a few machines made most of these calls";

}  // namespace fieldcost::report
