#pragma once

#include <string>
#include <vector>

#include "common/stats/stat_row.h"

namespace fieldcost {

// The rows as tools/reader/row_json.mjs writes them, one per line.
std::string RowLines(const std::vector<stats::StatRow>& rows);

}  // namespace fieldcost
