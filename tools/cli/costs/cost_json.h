#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/catalog/catalog.h"
#include "common/catalog/catalog_sync.h"
#include "tools/analysis/summary.h"
#include "tools/cli/costs/source.h"

namespace fieldcost::cli {

// The --json output of the catalogue's commands, in the conventions of json_output.h.

std::string RowsJson(const std::vector<analysis::CostSummary>& summaries,
                     const std::optional<catalog::Freshness>& freshness,
                     const std::optional<LocalRuns>& runs = std::nullopt,
                     std::string_view own_source = "local");
std::string SyncJson(const catalog::SyncReport& report, const catalog::Freshness& freshness);
// Where a function was measured.
struct FunctionSeen {
  bool here = false;   // on this machine
  bool field = false;  // in the catalogue
};
// Keys are as in names::ShownName().
std::string FunctionsJson(const std::map<std::string, FunctionSeen>& functions);

}  // namespace fieldcost::cli
