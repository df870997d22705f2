#pragma once

#include <string>

#include "common/base/clock.h"
#include "common/catalog/catalog.h"

namespace fieldcost::cli {

// One or two lines shown below all output from the catalogue: the snapshot, its age and
// completeness, and whether its data is synthetic.
std::string FreshnessText(const catalog::Freshness& freshness, WallTime now);

}  // namespace fieldcost::cli
