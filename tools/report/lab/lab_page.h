#pragma once

#include <set>
#include <string>
#include <vector>

#include "common/stats/api_key.h"
#include "common/wire/lab_table.h"
#include "tools/analysis/lab_cost.h"

namespace fieldcost::report {

// The matrix has those with the most pairs.
inline constexpr std::size_t kMaxPairApis = 24;

struct LabPageContent {
  std::vector<analysis::LabCost> costs;  // in the order in which they are shown
  std::set<std::string> waiting;         // untrusted symbols that were set apart (waiting.h)
  std::vector<wire::LabPart> parts;
  // Functions that were on one stack: the first had not returned when the second was entered.
  std::vector<std::pair<stats::ApiKey, stats::ApiKey>> pairs;
  // Which of them were timed together, one group a run; empty = not known (a table does not tell).
  std::vector<std::vector<stats::ApiKey>> groups;
};
// The content of a table, the most expensive APIs first. `with_waiting`: sets nothing apart.
LabPageContent LabPageContentOf(const wire::LabTable& table, bool with_waiting = false);

// What was measured of a scenario as one HTML document, as closed as CostPage(): the table with
// spectra, each API's histogram and the shape of its costs with what that follows from (for those
// that grow: the fitted curve), which functions call which, and the groups. At most kMaxPageApis
// APIs are drawn. Deterministic.
std::string LabPage(const LabPageContent& content);

}  // namespace fieldcost::report
