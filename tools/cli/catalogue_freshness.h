#pragma once

#include <string>

#include "common/base/clock.h"
#include "common/catalog/catalog.h"

namespace fieldcost::cli {

// One or two lines that stand under everything taken from the catalogue: which snapshot, how old,
// how complete, and whether its data is made up.
std::string FreshnessText(const catalog::Freshness& freshness, WallTime now);

}  // namespace fieldcost::cli
