#pragma once

#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/catalog/catalog.h"
#include "tools/analysis/api_cost.h"
#include "tools/cli/costs/source.h"
#include "tools/cli/terminal/output.h"
#include "tools/report/cost_csv.h"

namespace fieldcost::cli {

// The source of the numbers, for CSV.
report::Provenance ProvenanceOf(const Source& source);

enum class CsvKind { kNumbers, kBuckets };

// The summaries of all versions, in the same order.
std::vector<analysis::CostSummary> AllVersions(std::span<const analysis::ApiCost> costs);

// "(waiting: ...; --waiting lists them)", a line below ranked costs; empty without symbols.
std::string WaitingNote(const std::set<std::string>& untrusted_symbols);

// Prints the output of a cost query: JSON (RowsJson), CSV of the given kind, or the result of
// `text` followed by the catalogue's age. Long text goes through the pager.
Status PrintCosts(const std::vector<analysis::CostSummary>& summaries, const Source& source,
                  const Output& output, CsvKind csv, const std::function<std::string()>& text,
                  const std::optional<LocalRuns>& runs = std::nullopt);

}  // namespace fieldcost::cli
