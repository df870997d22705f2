#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/stats/api_sums.h"

namespace fieldcost::analysis {

// The trend of an API's typical cost over weeks or versions. Pure functions.

struct TrendPoint {
  std::string untrusted_label;  // a day or a version
  double cost = 0;              // geometric mean of the machines, in the metric's unit
  std::uint64_t contributions = 0;
};

// By week, ascending, labelled with the week's first day: from rows of single weeks, and of all
// classes together if the week has such rows. Empty if none are published.
std::vector<TrendPoint> WeeklyTrend(std::span<const stats::StatRow> rows, stats::Metric metric);

// By version, the oldest first; uses each version's widest rows.
std::vector<TrendPoint> VersionTrend(std::span<const stats::StatRow> rows, stats::Metric metric);

// The sums of a metric in its widest rows (stats::StratumWidth).
stats::ApiSums MergeWidest(std::span<const stats::StatRow> rows, stats::Metric metric);

}  // namespace fieldcost::analysis
