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
#include "tools/cli/output.h"
#include "tools/cli/source.h"
#include "tools/report/cost_csv.h"

namespace fieldcost::cli {

// Where a source's numbers come from, for CSV.
report::Provenance ProvenanceOf(const Source& source);

enum class CsvKind { kNumbers, kBuckets };

// The summaries of all versions, in that order.
std::vector<analysis::CostSummary> AllVersions(std::span<const analysis::ApiCost> costs);

// "(waiting: ...; --waiting lists them)", a line below ranked costs; "" of no symbols.
std::string WaitingNote(const std::set<std::string>& untrusted_symbols);

// Prints the answer of a reading command: JSON (RowsJson), CSV of that kind, or the result of
// `text` followed by the age of the catalogue or, for this machine, by the number of runs; through
// the pager if it is long.
Status PrintCosts(const std::vector<analysis::CostSummary>& summaries, const Source& source,
                  const Output& output, CsvKind csv, const std::function<std::string()>& text,
                  const std::optional<LocalRuns>& runs = std::nullopt);

}  // namespace fieldcost::cli
