#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "tools/analysis/row_selection.h"
#include "tools/analysis/summary.h"
#include "tools/cli/source.h"

namespace fieldcost::cli {

// kInvalidArgument unless it is "symbol" or "soname!symbol": known without a catalogue.
Status CheckApiName(std::string_view untrusted_name);

// What is known of the one API that a user has named by "symbol" or "soname!symbol", where a symbol
// of C++ may be as it stands in source code ("Json::Reader::parse"); a summary for each version,
// and of overloads for each. kInvalidArgument if it is no name, or that of several (they are
// listed); kNotFound if there is none (with the nearest names), or none of the selection (with what
// there is).
Result<std::vector<analysis::CostSummary>> FindApi(const Source& source, const std::string& name,
                                                   const analysis::Selection& selection);

}  // namespace fieldcost::cli
