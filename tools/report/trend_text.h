#pragma once

#include <span>
#include <string>
#include <string_view>

#include "common/draw/terminal.h"
#include "tools/analysis/trend.h"

namespace fieldcost::report {

// A trend as text and as a picture. Pure; thread-safe.

// "3 weeks from 2026-11-05 to 2026-11-19: 1.0 µs, 1.1 µs, 2.2 µs"; `unit` = "weeks" or "versions".
// Not escaped.
std::string TrendWords(std::span<const analysis::TrendPoint> points, std::string_view unit,
                       stats::Metric metric, const draw::Style& style);

// One bar per point, from zero to the most expensive, in its bucket's colour, as a drawing within a
// page (svg.h) with a text alternative. Empty for fewer than 2 points.
std::string TrendSvg(std::span<const analysis::TrendPoint> points, std::string_view unit,
                     stats::Metric metric);

// The same as a line of text with one column per point. Empty for fewer than 2 points.
std::string TrendLine(std::span<const analysis::TrendPoint> points, const draw::Style& style);

}  // namespace fieldcost::report
