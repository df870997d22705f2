#pragma once

#include <set>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "tools/analysis/summary.h"

namespace fieldcost::report {

// One user's own costs as a page.
struct CostPageContent {
  struct Fact {
    std::string label;
    std::string untrusted_value;
  };
  WallTime made{};
  std::vector<Fact> facts;                       // about mode, what was sent and what stays here
  std::vector<analysis::CostSummary> summaries;  // of kOwn, in the order of the page
  std::set<std::string> waiting;  // untrusted symbols that were set apart (waiting.h)
};

// At most so many APIs get a picture and numbers in full; the others are counted.
inline constexpr std::size_t kMaxPageApis = 400;

// A whole HTML document in UTF-8 that needs nothing beside itself: no script, no network, no other
// file; its content security policy forbids them, too. Names are escaped. Deterministic.
std::string CostPage(const CostPageContent& content);

}  // namespace fieldcost::report
