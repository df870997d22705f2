#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "tools/analysis/row_selection.h"
#include "tools/analysis/summary.h"
#include "tools/cli/costs/source.h"

namespace fieldcost::cli {

// kInvalidArgument unless the name has the form "symbol" or "soname!symbol". Needs no catalogue.
Status CheckApiName(std::string_view untrusted_name);

// Returns the summaries of the API that the user named as "symbol" or "soname!symbol", one per
// version and overload. A C++ symbol may be written as in source code ("Json::Reader::parse").
// kInvalidArgument if the name is malformed or matches several APIs (which are listed); kNotFound
// if no API has it (with the nearest names), or nothing matches the selection (with what exists).
Result<std::vector<analysis::CostSummary>> FindApi(const Source& source, const std::string& name,
                                                   const analysis::Selection& selection);

}  // namespace fieldcost::cli
