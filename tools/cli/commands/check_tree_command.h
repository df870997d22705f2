#pragma once

#include <filesystem>
#include <string>

#include "common/base/result.h"
#include "tools/analysis/check_report.h"
#include "tools/cli/costs/check_json.h"
#include "tools/cli/terminal/output.h"

namespace fieldcost::cli {

// Loads a call tree by its main metric. The operand (ParseTreeOperand()) is a recording, a part of
// one, or another profiler's file, which is untrusted. kInvalidArgument for a difference.
Result<TreeToCheck> LoadTreeToCheck(const std::string& operand);

// The tree with the functions that the report flags highlighted, and their contexts.
std::string TreeToCheckText(const TreeToCheck& tree, const analysis::CheckReport& report,
                            const draw::Style& style);

// Prints that text, or JSON.
Status ShowCheckedTree(const std::string& operand, const analysis::CheckReport& report,
                       const Output& output);

// Writes the same tree as a flame graph to `page` ("-" = stdout). `synthetic`: the field's data is.
Status WriteFlameGraph(const std::string& operand, const std::filesystem::path& page,
                       const analysis::CheckReport& report, bool synthetic);

}  // namespace fieldcost::cli
