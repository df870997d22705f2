#pragma once

#include <span>
#include <string>
#include <vector>

#include "common/draw/terminal.h"
#include "tools/analysis/requirement.h"

namespace fieldcost::report {

// Judged requirements as text and CSV. Deterministic; everything is escaped.

// A table with one line per requirement and function: verdict, function, library, requirement,
// measured figure; violated ones first, then those not measured, with the reason. Then a line that
// counts them.
std::string RequirementText(std::span<const analysis::JudgedRequirement> judged,
                            const draw::Style& style);

// "p99 <= 1 ms".
std::string LimitText(const analysis::Requirement& requirement, const draw::Style& style);

// One record each, in the order of `judged`: verdict, name (as required), figure, limit, unit,
// library, symbol, measured, low, high, why.
std::string RequirementCsv(const std::vector<analysis::JudgedRequirement>& judged);

}  // namespace fieldcost::report
