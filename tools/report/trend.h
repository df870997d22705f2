#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/stats/api_sums.h"
#include "tools/report/terminal.h"

namespace fieldcost::report {

// How an API's typical cost has gone over weeks or versions. Pure functions.

struct TrendPoint {
  std::string untrusted_label;  // a day or a version
  double cost = 0;              // geometric mean of the machines, in the metric's unit
  std::uint64_t contributions = 0;
};

// By week, the first first, labelled with the week's first day: from rows of single weeks, of all
// classes together where there are such rows in that week. Empty if none are published.
std::vector<TrendPoint> WeeklyTrend(std::span<const stats::StatRow> rows, stats::Metric metric);

// By version, the oldest first; of each version its widest rows.
std::vector<TrendPoint> VersionTrend(std::span<const stats::StatRow> rows, stats::Metric metric);

// "3 weeks from 2026-11-05 to 2026-11-19: 1.0 µs, 1.1 µs, 2.2 µs"; `unit` = "weeks" or "versions".
// Not escaped.
std::string TrendWords(std::span<const TrendPoint> points, std::string_view unit,
                       stats::Metric metric, const Style& style);

// A bar a point, from zero to the dearest, in the colour of its bucket, as a drawing to stand in a
// page (svg.h); says in words what it shows. Empty text for fewer than 2 points.
std::string TrendSvg(std::span<const TrendPoint> points, std::string_view unit,
                     stats::Metric metric);

// The same in a line of text: a column a point. Empty for fewer than 2 points.
std::string TrendLine(std::span<const TrendPoint> points, const Style& style);

// The sums of a metric in the widest rows that there are of it (stats::StratumWidth).
stats::ApiSums MergeWidest(std::span<const stats::StatRow> rows, stats::Metric metric);

}  // namespace fieldcost::report
