#pragma once

#include <string>

#include "tools/analysis/check_report.h"
#include "tools/analysis/tree_view.h"

namespace fieldcost::report {

struct FlamePageContent {
  const analysis::TreeView* view = nullptr;  // not a difference
  const analysis::CheckReport* report = nullptr;
  std::string untrusted_name;  // the profile's name
  bool synthetic = false;      // the field's data is synthetic; stated at the top
};

// A flame graph as a self-contained HTML document without scripts. Callers are above their callees;
// the width is the cost including callees; the most expensive comes first. The colour is the cost
// of an API relative to the field, grey if the field does not know it. The label repeats it; "!"
// marks APIs that are worse by the test. Frames too narrow to be seen are omitted. Names are
// escaped. Deterministic.
std::string FlamePage(const FlamePageContent& content);

}  // namespace fieldcost::report
