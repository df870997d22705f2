#include "tools/report/waiting_text.h"

#include <fmt/format.h>

#include <vector>

#include "common/base/text.h"

namespace fieldcost::report {

std::string WaitingText(const std::set<std::string>& untrusted_symbols) {
  if (untrusted_symbols.empty()) return "";
  const std::vector<std::string> names(untrusted_symbols.begin(), untrusted_symbols.end());
  return fmt::format("waiting: {} set apart, since waiting is not a cost: {}",
                     Counted(names.size(), "function"), ListText(names, names.size()));
}

}  // namespace fieldcost::report
