#pragma once

#include <string>
#include <vector>

#include "tools/analysis/vendor_report.h"
#include "tools/report/cost_page.h"

namespace fieldcost::report {

struct VendorPageContent {
  const analysis::VendorReport* report = nullptr;
  std::vector<CostPageContent::Fact> facts;  // about the catalogue
  bool synthetic = false;                    // says so at the top
};

// The vendor report as a whole HTML document, for screen and paper, light and dark. Like CostPage()
// it needs nothing beside itself, runs nothing and fetches nothing, and its policy forbids it;
// names are escaped. At most kMaxPageApis APIs are drawn, the dearest. Deterministic.
std::string VendorPage(const VendorPageContent& content);

}  // namespace fieldcost::report
