#pragma once

#include <string>
#include <vector>

#include "aggregator/probe_server/pages/event_page.h"
#include "aggregator/probe_server/pages/history_page.h"
#include "aggregator/probe_server/web/queries.h"

namespace fieldcost::probe_server {

// Responses of the API. Points in time are strings of ns since 1970, because JSON numbers cannot
// hold them exactly; durations are numbers of ns. Pure.

std::string EventsJson(const FoundEvents& found);
std::string EventJson(const EventView& view);
std::string ComparisonJson(const std::vector<probe::Event>& events,
                           const std::optional<probe::Comparison>& comparison);
std::string GroupsJson(const probe::ComparedSides& sides);
std::string HistoryJson(const HistoryView& view);

}  // namespace fieldcost::probe_server
