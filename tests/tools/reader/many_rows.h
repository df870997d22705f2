#pragma once

#include <cstddef>
#include <vector>

#include "common/stats/stat_row.h"

namespace fieldcost {

// At least `count` valid rows, ascending by key, the same each time: extremes, and random ones in
// all combinations of classes, weeks, weights, bounded sums, quarters and untimed calls.
std::vector<stats::StatRow> ManyRows(std::size_t count);

}  // namespace fieldcost
