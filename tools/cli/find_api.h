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

// Returns the summaries of the one API that a user has named by "symbol" or "soname!symbol"; a C++
// symbol may be written as in source code ("Json::Reader::parse"). One summary per version, and per
// overload. kInvalidArgument if it is no name, or that of several APIs (which are listed);
// kNotFound if no API has it (with the nearest names), or none of the selection (with the existing
// ones).
Result<std::vector<analysis::CostSummary>> FindApi(const Source& source, const std::string& name,
                                                   const analysis::Selection& selection);

}  // namespace fieldcost::cli
