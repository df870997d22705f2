#pragma once

#include <set>
#include <string>
#include <vector>

#include "common/stats/api_key.h"
#include "common/wire/lab_table.h"
#include "tools/analysis/coverage.h"
#include "tools/analysis/lab_cost.h"

namespace fieldcost::report {

// The matrix shows the APIs with the most pairs.
inline constexpr std::size_t kMaxPairApis = 24;

struct LabPageContent {
  std::vector<analysis::LabCost> costs;  // in the order shown
  std::set<std::string> waiting;         // untrusted symbols that only wait (waiting.h)
  std::vector<wire::LabPart> parts;
  // Functions that shared a stack: the first had not returned when the second was entered.
  std::vector<std::pair<stats::ApiKey, stats::ApiKey>> pairs;
  // The APIs timed together, one group per run; empty = unknown (a table does not record groups).
  std::vector<std::vector<stats::ApiKey>> groups;
  analysis::Coverage coverage;  // likewise only of a new measurement
};
// The page's content, the most expensive APIs first. `with_waiting`: includes functions that only
// wait.
LabPageContent LabPageContentOf(const wire::LabTable& table, bool with_waiting = false);

// The measurements of a scenario as one HTML document, self-contained like CostPage(): the table
// with spectra; each API's histogram and the shape of its costs with the evidence (for growing
// costs, the fitted curve); callers and callees; and the groups. At most kMaxPageApis APIs are
// drawn. Deterministic.
std::string LabPage(const LabPageContent& content);

}  // namespace fieldcost::report
