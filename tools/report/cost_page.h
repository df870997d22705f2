#pragma once

#include <set>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "tools/analysis/summary.h"

namespace fieldcost::report {

// The content of a page with the user's own costs.
struct CostPageContent {
  struct Fact {
    std::string label;
    std::string untrusted_value;
  };
  WallTime made{};
  std::vector<Fact> facts;                       // the mode, and which data was sent or stays here
  std::vector<analysis::CostSummary> summaries;  // own data (kOwn), in the page's order
  std::set<std::string> waiting;                 // untrusted symbols that only wait (waiting.h)
};

// Maximum number of APIs with a picture and full numbers; the rest are counted.
inline constexpr std::size_t kMaxPageApis = 400;

// Returns a self-contained HTML document in UTF-8. It uses no script, network or other file, and
// its content security policy forbids them. Names are escaped. Deterministic.
std::string CostPage(const CostPageContent& content);

}  // namespace fieldcost::report
