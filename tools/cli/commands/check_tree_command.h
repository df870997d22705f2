#pragma once

#include <filesystem>
#include <string>

#include "common/base/result.h"
#include "tools/analysis/check_report.h"
#include "tools/cli/terminal/output.h"

namespace fieldcost::cli {

// Prints a call tree with the functions that the report flags highlighted. The operand
// (ParseTreeOperand()) is a recording, a part of one, or another profiler's file, which is
// untrusted.
Status ShowCheckedTree(const std::string& operand, const analysis::CheckReport& report,
                       const Output& output);

// Writes the same tree as a flame graph to `page` ("-" = stdout). `synthetic`: the field's data is.
Status WriteFlameGraph(const std::string& operand, const std::filesystem::path& page,
                       const analysis::CheckReport& report, bool synthetic);

}  // namespace fieldcost::cli
