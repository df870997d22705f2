#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/draw/terminal.h"
#include "common/stats/field_total.h"
#include "common/stats/figures.h"

namespace fieldcost::report {

// Figures as text, shared by tables and details. Pure; thread-safe.

// For values that were not measured or are unknown.
inline constexpr char kUnknown[] = "-";

// Of tables: the column of spectra and its width, and the longest version that is not shortened.
inline constexpr char kSpectrum[] = "SPECTRUM";
inline constexpr std::size_t kSpectrumWidth = 16;
inline constexpr std::size_t kMaxVersionWidth = 22;

// States which runs the times come from, to be appended to the strata: programs started under load
// are measured separately, under heavy load not at all. "" for other metrics.
std::string_view LoadText(stats::Metric metric);

// The number of values that the quantiles are based on: the timed calls or, if unknown, the calls
// that these represent.
std::optional<std::uint64_t> TimedCalls(const stats::Figures& figures);

// Fewer values do not determine this quantile: it would be the largest of them.
inline constexpr std::uint64_t kLeastForP99 = 100;
inline constexpr std::uint64_t kLeastForP95 = 20;

// "1.2 us", or "-" if quantiles are unknown, or there are too few values for this one.
std::string QuantileText(const stats::Figures& figures, stats::Quantile stats::Quantiles::*which,
                         stats::Metric metric, const draw::Style& style);

// "26 h estimated, all runs", or "26 h in measured runs"; "-" if unknown.
std::string EstimateText(const std::optional<stats::FieldCost>& total, const draw::Style& style);

// "each of 12 contributions counts the same", and the number of contributions without weight.
// REQUIRES: machines != 0.
std::string MachinesText(const stats::Figures& figures);
// Why figures of all calls are missing; "" if they are present.
std::string AllCallsText(const stats::Figures& figures);
inline constexpr std::string_view kFewMachinesText = "a few machines made most of these calls";

}  // namespace fieldcost::report
