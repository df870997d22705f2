#pragma once

#include <filesystem>
#include <string>

#include "common/base/result.h"
#include "tools/analysis/check_report.h"
#include "tools/cli/output.h"

namespace fieldcost::cli {

// Prints the call tree of a recording, a part of one, or a profile of another program
// (ParseTreeOperand()), in which what the report flags stands out. The file is untrusted.
Status ShowCheckedTree(const std::string& operand, const analysis::CheckReport& report,
                       const Output& output);

// Writes the same as a flame graph, a page, to `page` ("-" = stdout). `synthetic`: the field is.
Status WriteFlameGraph(const std::string& operand, const std::filesystem::path& page,
                       const analysis::CheckReport& report, bool synthetic);

}  // namespace fieldcost::cli
