#pragma once

#include <string>
#include <vector>

#include "aggregator/probe_server/pages/layout.h"
#include "aggregator/probe_server/pages/list_page.h"
#include "common/probe/compare_events.h"

namespace fieldcost::probe_server {

// The history of a label's events over builds. Pure.
struct HistoryView {
  FilterText filter;
  std::vector<probe::HistoryLine> lines;
  std::size_t set_aside = 0;    // events that are excluded
  std::uint64_t lost_hits = 0;  // in the runs of all events
  bool is_cut = false;          // there are older events
};
std::string HistoryPage(const Frame& frame, const HistoryView& view);

}  // namespace fieldcost::probe_server
