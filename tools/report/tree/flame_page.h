#pragma once

#include <string>

#include "tools/analysis/check_report.h"
#include "tools/analysis/tree_view.h"

namespace fieldcost::report {

struct FlamePageContent {
  const analysis::TreeView* view = nullptr;  // no difference
  const analysis::CheckReport* report = nullptr;
  std::string untrusted_name;  // of the profile
  bool synthetic = false;      // the field is made up; says so at the top
};

// A flame graph as a self-contained HTML document without scripts: callers are below, as wide as
// the cost of them and their callees, the most expensive first. Colour is the cost of an API
// relative to the field; grey is unknown to the field. The label repeats it; "!" marks APIs that
// are worse by the test. Frames too narrow to be seen are left out. Names are escaped.
// Deterministic.
std::string FlamePage(const FlamePageContent& content);

}  // namespace fieldcost::report
