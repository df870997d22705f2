#pragma once

#include <string>

#include "common/catalog/catalog.h"
#include "tools/report/vendor_report.h"
#include "tools/report/version_change.h"

namespace fieldcost::cli {

// What `diff --json` and `report vendor --format json` print: one JSON object and a newline. Names
// are stable; times in all are in ns.
std::string DiffJson(const report::LibraryChange& change, const catalog::Freshness& freshness);
std::string VendorJson(const report::VendorReport& report, const catalog::Freshness& freshness);

}  // namespace fieldcost::cli
