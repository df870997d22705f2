#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tools/analysis/installed_version.h"
#include "tools/analysis/summary.h"

namespace fieldcost::analysis {

// What is known of one API: some of its library's versions, and what they have cost together. A
// line of the cost table.
struct ApiCost {
  std::vector<CostSummary> versions;      // that of shown() first, then the newest; not empty
  bool is_installed = false;              // shown() is the version installed on this machine
  std::optional<std::uint64_t> calls;     // of all of them, see CallsOf()
  std::optional<stats::FieldCost> total;  // the same of TotalOf()

  // The version whose figures stand for the API: the one installed here, otherwise the newest.
  const CostSummary& shown() const { return versions.front(); }
};

enum class Versions { kJoined, kSingle };

// The summaries, those that differ by the library's version only joined or not. Ascending by name.
// `installed` is asked only where there are several versions.
std::vector<ApiCost> CostsOf(std::vector<CostSummary> summaries, Versions versions,
                             const InstalledVersion& installed = {});

// Moves the installed version to the front of `versions`, which belong to one API. True if it is
// there. The order of the others stays.
bool PutInstalledFirst(std::vector<CostSummary>& versions, const InstalledVersion& installed);

// Sorts by descending total, or by shown() if there is none; functions without a known cost come
// last, equal ones by name. Totals of measured runs alone come after those of all runs.
void Sort(std::vector<ApiCost>& costs, SortKey key);

}  // namespace fieldcost::analysis
