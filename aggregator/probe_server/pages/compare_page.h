#pragma once

#include <optional>
#include <string>
#include <vector>

#include "aggregator/probe_server/pages/layout.h"
#include "common/probe/compare_events.h"
#include "common/probe/event_store.h"
#include "common/probe/groups.h"

namespace fieldcost::probe_server {

// Events side by side. Pure.

struct CompareView {
  std::string label;                 // its groups may be compared; empty: selected events
  std::vector<probe::Event> events;  // oldest first: ratios are relative to the first
  std::vector<std::string> users;    // owners of the events
  std::vector<std::string> tags;     // the tags that occur in at least one event
  std::string base_tag;              // compare by tag; empty: each event with the oldest
  std::string new_tag;
  std::optional<probe::Comparison> comparison;  // of the groups with these tags
  std::optional<probe::ComparedSides> groups;   // of all events of the label
};

std::string ComparePage(const Frame& frame, const CompareView& view);

}  // namespace fieldcost::probe_server
