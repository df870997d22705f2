#pragma once

#include <string>
#include <vector>

#include "agent/volunteer/agent.h"
#include "common/catalog/catalog.h"
#include "tools/analysis/local_change.h"
#include "tools/analysis/vendor_report.h"
#include "tools/analysis/version_change.h"

namespace fieldcost::cli {

// The output of `diff --json` and `report vendor --json`: one JSON object and a newline. Names are
// stable; times are in ns.
std::string DiffJson(const analysis::LibraryChange& change, const catalog::Freshness& freshness);
std::string LocalDiffJson(const std::vector<analysis::LocalChange>& changes,
                          const volunteer::TimeSpan& before, const volunteer::TimeSpan& after);
// `freshness` is nullopt for a lab table.
std::string VendorJson(const analysis::VendorReport& report,
                       const std::optional<catalog::Freshness>& freshness);

}  // namespace fieldcost::cli
