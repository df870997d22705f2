#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tools/analysis/installed_version.h"
#include "tools/analysis/summary.h"

namespace fieldcost::analysis {

// The costs of one API: some versions of its library, and their costs together. A line of the cost
// table.
struct ApiCost {
  std::vector<CostSummary> versions;      // shown() first, then from the newest on; not empty
  bool is_installed = false;              // shown() is the version installed on this machine
  std::optional<std::uint64_t> calls;     // of all versions, see CallsOf()
  std::optional<stats::FieldCost> total;  // of all versions, see TotalOf()

  // The version whose figures represent the API: the one installed here, otherwise the newest.
  const CostSummary& shown() const { return versions.front(); }
};

enum class Versions { kJoined, kSingle };

// Groups the summaries, optionally joining those that differ only by the library's version.
// Ascending by name. Calls `installed` only if there are several versions.
std::vector<ApiCost> CostsOf(std::vector<CostSummary> summaries, Versions versions,
                             const InstalledVersion& installed = {});

// Moves the installed version to the front of `versions`, which belong to one API, and returns true
// if it is there. Keeps the order of the others.
bool PutInstalledFirst(std::vector<CostSummary>& versions, const InstalledVersion& installed);

// Sorts by descending total, or by shown() if it is unknown; functions without a known cost come
// last, ties by name. Totals over measured runs only come after totals over all runs.
void Sort(std::vector<ApiCost>& costs, SortKey key);

}  // namespace fieldcost::analysis
