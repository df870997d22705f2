#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "aggregator/probe_server/pages/layout.h"
#include "common/draw/html_writer.h"
#include "common/probe/event_store.h"
#include "common/probe/set_aside.h"

namespace fieldcost::probe_server {

// Lists of labels and events. Pure.

struct EventLine {
  probe::EventRow row;
  std::string user;
  probe::Judgement verdict;
};

// The filter as the user typed it.
struct FilterText {
  std::string label;
  std::string user;
  std::string build;
  std::string tag;
  std::string program;
  std::string from;  // days
  std::string to;
  bool with_set_aside = false;
};

struct EventList {
  FilterText filter;
  std::vector<std::string> labels;  // to choose from
  std::vector<EventLine> lines;
  std::size_t hidden = 0;    // set aside and not listed
  std::string older_cursor;  // empty: this is the last page
};

std::string LabelsPage(const Frame& frame, const probe::LabelPage& page);
// Adds the fields of a form that filters events; a page may add its own before or after them.
void AddFilterFields(draw::Html& html, const FilterText& filter);

std::string EventsPage(const Frame& frame, const EventList& list);

}  // namespace fieldcost::probe_server
