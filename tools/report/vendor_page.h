#pragma once

#include <string>
#include <vector>

#include "tools/analysis/vendor_report.h"
#include "tools/report/cost_page.h"

namespace fieldcost::report {

struct VendorPageContent {
  const analysis::VendorReport* report = nullptr;
  std::vector<CostPageContent::Fact> facts;  // about the catalogue
  bool synthetic = false;                    // the data is; stated at the top
};

// The vendor report as a complete HTML document for screen and paper, light and dark. Like
// CostPage() it is self-contained: it runs and fetches nothing, and its policy forbids both. Names
// are escaped. Draws at most the kMaxPageApis most expensive APIs. Deterministic.
std::string VendorPage(const VendorPageContent& content);

}  // namespace fieldcost::report
