#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tools/analysis/summary.h"

namespace fieldcost::analysis {

// What is known of one API: some of its library's versions, and what they have cost together. A
// line of the cost table.
struct ApiCost {
  std::vector<CostSummary> versions;      // the newest first; not empty
  std::optional<std::uint64_t> calls;     // of all of them, see CallsOf()
  std::optional<stats::FieldCost> total;  // the same of TotalOf()

  const CostSummary& newest() const { return versions.front(); }
};

enum class Versions { kJoined, kSingle };

// The summaries, those that differ by the library's version only joined or not. Ascending by name.
std::vector<ApiCost> CostsOf(std::vector<CostSummary> summaries, Versions versions);

// Most expensive first by total, else by the newest version; those of which it is not known last;
// equal ones by name. Totals of measured runs only come after those of all runs.
void Sort(std::vector<ApiCost>& costs, SortKey key);

}  // namespace fieldcost::analysis
