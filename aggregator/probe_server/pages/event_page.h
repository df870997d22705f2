#pragma once

#include <cstddef>
#include <string>

#include "aggregator/probe_server/pages/layout.h"
#include "common/probe/event_store.h"
#include "common/probe/set_aside.h"

namespace fieldcost::probe_server {

// One event with its steps, and one step with its stack. Pure.

struct EventView {
  probe::Event event;
  std::string user;
  probe::Judgement verdict;
};

std::string EventPage(const Frame& frame, const EventView& view);
// REQUIRES: hit < view.event.hits.size().
std::string StepPage(const Frame& frame, const EventView& view, std::size_t hit);

}  // namespace fieldcost::probe_server
