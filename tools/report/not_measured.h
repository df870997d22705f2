#pragma once

#include <string>
#include <vector>

#include "tools/analysis/summary.h"

namespace fieldcost::report {

// The metrics of an API that could not be measured, with the reasons, as text. Pure; thread-safe.
struct NotMeasuredPart {
  std::vector<stats::Metric> metrics;  // ascending
  bool in_some_runs = false;           // other runs did measure them
  std::string_view reason;
};

// One part per reason; empty if everything was measured.
std::vector<NotMeasuredPart> NotMeasuredParts(const analysis::CostSummary& summary);

// "disk_read, disk_written: libc moves these bytes by itself ..., in some runs".
std::string Text(const NotMeasuredPart& part);

}  // namespace fieldcost::report
