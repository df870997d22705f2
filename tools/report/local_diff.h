#pragma once

#include <string>
#include <vector>

#include "common/draw/terminal.h"
#include "tools/analysis/local_change.h"

namespace fieldcost::report {

// The output of `diff --local`. Pure.

// What has changed in a sentence, as of two versions; a table of what costs more or less, or with
// `all` of everything; how many others there are.
std::string LocalDiffText(const std::vector<analysis::LocalChange>& changes, bool all,
                          const draw::Style& style);
// All changes, one record per API.
std::string LocalDiffCsv(const std::vector<analysis::LocalChange>& changes);

}  // namespace fieldcost::report
