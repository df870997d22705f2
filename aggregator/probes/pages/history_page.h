#pragma once

#include <string>
#include <vector>

#include "aggregator/probes/pages/layout.h"
#include "aggregator/probes/pages/list_page.h"
#include "common/probe/compare.h"

namespace fieldcost::probe_server {

// How a label's events went from build to build. Pure.
struct HistoryView {
  FilterText filter;
  std::vector<probe::HistoryLine> lines;
  std::size_t set_aside = 0;    // events that are not counted
  std::uint64_t lost_hits = 0;  // in the runs of all of them
  bool is_cut = false;          // there are older events
};
std::string HistoryPage(const Frame& frame, const HistoryView& view);

}  // namespace fieldcost::probe_server
