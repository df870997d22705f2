#pragma once

#include <string>

#include "common/base/clock.h"
#include "common/catalog/catalog.h"

namespace fieldcost::cli {

// One or two lines shown below all output from the catalogue: the snapshot, its age and
// completeness, and whether its data is synthetic.
std::string FreshnessText(const catalog::Freshness& freshness, WallTime now);

// States that some parts of the catalogue have never been fetched, so that no order of all APIs by
// cost is known: "the catalogue is incomplete, 34 of 120
// fragments: fieldcost sync"
std::string IncompleteText(const catalog::Freshness& freshness);

}  // namespace fieldcost::cli
