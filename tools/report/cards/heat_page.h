#pragma once

#include <span>
#include <string>

#include "tools/report/cards/cost_card.h"

namespace fieldcost::report {

// What an API costs in each version, as a whole HTML document that needs nothing beside itself and
// runs nothing: for each metric a heat map, a line a version, the newest first, a column a bucket,
// all on one scale; and the numbers. Several APIs stand below each other. Names are escaped.
// Deterministic. REQUIRES: at least one card.
std::string HeatPage(std::span<const CostCard> cards);

}  // namespace fieldcost::report
