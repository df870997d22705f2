#pragma once

#include <string>
#include <vector>

#include "aggregator/probes/pages/layout.h"
#include "common/probe/compare.h"

namespace fieldcost::probe_server {

// How a label's events went from build to build. Pure.
struct HistoryView {
  std::string label;
  std::vector<probe::BuildPoint> builds;  // oldest first
  std::size_t set_aside = 0;              // events that are not counted
  bool is_cut = false;                    // there are older events
};
std::string HistoryPage(const Frame& frame, const HistoryView& view);

}  // namespace fieldcost::probe_server
