#pragma once

#include <string>
#include <vector>

#include "common/draw/terminal.h"
#include "tools/analysis/local_change.h"

namespace fieldcost::report {

// The output of `diff --local`. Pure.

// The changes in one sentence, as for two versions; a table of the functions that cost more or
// less, or with `all` of all functions; and the number of the others.
std::string LocalDiffText(const std::vector<analysis::LocalChange>& changes, bool all,
                          const draw::Style& style);
// All changes, one record per API.
std::string LocalDiffCsv(const std::vector<analysis::LocalChange>& changes);

}  // namespace fieldcost::report
