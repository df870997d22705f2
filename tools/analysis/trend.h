#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/stats/api_sums.h"

namespace fieldcost::analysis {

// How an API's typical cost has gone over weeks or versions. Pure functions.

struct TrendPoint {
  std::string untrusted_label;  // a day or a version
  double cost = 0;              // geometric mean of the machines, in the metric's unit
  std::uint64_t contributions = 0;
};

// Goes by week, the first first, labelled with its first day: from rows of single weeks, of all
// classes together where there are such rows in that week. Empty if none are published.
std::vector<TrendPoint> WeeklyTrend(std::span<const stats::StatRow> rows, stats::Metric metric);

// Goes by version, the oldest first; of each version its widest rows.
std::vector<TrendPoint> VersionTrend(std::span<const stats::StatRow> rows, stats::Metric metric);

// The sums of a metric in the widest rows that there are of it (stats::StratumWidth).
stats::ApiSums MergeWidest(std::span<const stats::StatRow> rows, stats::Metric metric);

}  // namespace fieldcost::analysis
