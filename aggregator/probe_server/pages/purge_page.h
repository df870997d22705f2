#pragma once

#include <string>
#include <vector>

#include "aggregator/probe_server/pages/layout.h"
#include "aggregator/probe_server/pages/list_page.h"

namespace fieldcost::probe_server {

inline constexpr std::size_t kMaxPurged = 500;  // events per request

// Asks for confirmation to remove these events, which are set aside, permanently. Pure.
std::string PurgePage(const Frame& frame, const std::string& label,
                      const std::vector<EventLine>& lines);

}  // namespace fieldcost::probe_server
