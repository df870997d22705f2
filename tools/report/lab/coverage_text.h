#pragma once

#include <string>

#include "common/draw/terminal.h"
#include "tools/analysis/coverage.h"

namespace fieldcost::report {

// "2 of 88 functions of libz.so.1 were called", one line per library, with the number of those that
// cannot be measured; `with_names`: also the functions that were not called. Everything is escaped.
std::string CoverageText(const analysis::Coverage& coverage, bool with_names,
                         const draw::Style& style);

// The same as a section of a page; empty without libraries.
std::string CoverageHtml(const analysis::Coverage& coverage);

}  // namespace fieldcost::report
