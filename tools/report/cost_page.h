#pragma once

#include <set>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "tools/analysis/summary.h"

namespace fieldcost::report {

// The user's own costs as a page.
struct CostPageContent {
  struct Fact {
    std::string label;
    std::string untrusted_value;
  };
  WallTime made{};
  std::vector<Fact> facts;  // about the mode, and which data was sent or stays here
  std::vector<analysis::CostSummary> summaries;  // of kOwn, in the order of the page
  std::set<std::string> waiting;                 // untrusted symbols set apart (waiting.h)
};

// Maximum number of APIs with a picture and full numbers; the others are counted.
inline constexpr std::size_t kMaxPageApis = 400;

// A self-contained HTML document in UTF-8: no script, no network, no other file; its content
// security policy forbids them, too. Names are escaped. Deterministic.
std::string CostPage(const CostPageContent& content);

}  // namespace fieldcost::report
