#pragma once

#include <string>
#include <vector>

#include "tools/analysis/vendor_report.h"
#include "tools/report/cost_page.h"

namespace fieldcost::report {

struct VendorPageContent {
  const analysis::VendorReport* report = nullptr;
  std::vector<CostPageContent::Fact> facts;  // about the catalogue
  bool synthetic = false;                    // stated at the top
};

// The vendor report as a whole HTML document, for screen and paper, light and dark. Like CostPage()
// it is self-contained, runs and fetches nothing, and its policy forbids both;
// names are escaped. At most kMaxPageApis APIs are drawn, the most expensive. Deterministic.
std::string VendorPage(const VendorPageContent& content);

}  // namespace fieldcost::report
