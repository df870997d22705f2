#pragma once

#include <set>
#include <string>

namespace fieldcost::report {

// The note on functions that are excluded from costs (analysis::SetWaitingApart()): "waiting: 2
// functions set apart, since waiting is not a cost: poll, select"; "" if none.
std::string WaitingText(const std::set<std::string>& untrusted_symbols);

}  // namespace fieldcost::report
