#include "tools/report/waiting_text.h"

#include <fmt/format.h>

#include <vector>

#include "common/base/text.h"
#include "common/names/cxx_name.h"

namespace fieldcost::report {

std::string WaitingText(const std::set<std::string>& untrusted_symbols) {
  if (untrusted_symbols.empty()) return "";
  std::set<std::string> shown;  // overloads count as one
  for (const std::string& symbol : untrusted_symbols) shown.insert(names::ShortName(symbol));
  const std::vector<std::string> names(shown.begin(), shown.end());
  return fmt::format("waiting: {} set apart, since waiting is not a cost: {}",
                     Counted(names.size(), "function"), ListText(names, names.size()));
}

}  // namespace fieldcost::report
