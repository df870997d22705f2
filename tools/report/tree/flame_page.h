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

// A flame graph as a whole HTML document that needs nothing beside itself and runs nothing: callers
// below, as wide as what they and their callees take, the most expensive first. Colour is how much
// an API costs here to what it costs in the field; grey is what the field does not know. Its label
// says the same, "!" marks what is worse by the test. Frames too narrow to be seen are left out.
// Names are escaped. Deterministic.
std::string FlamePage(const FlamePageContent& content);

}  // namespace fieldcost::report
