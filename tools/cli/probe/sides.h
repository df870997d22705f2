#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/probe/groups.h"
#include "tools/cli/probe/local_events.h"

namespace fieldcost::cli {

// Compares two selections of events, group by group (common/probe/groups.h).

struct SelectedSides {
  std::string base;  // selections as texts (event_selection.h)
  std::string changed;
  std::string label;  // empty: all
  std::string db;     // database for selections that name no file
  double least = 0;
};
// kNotFound if a side has no event; kInvalidArgument if an event is on both sides, or if nothing
// can be compared.
Result<probe::ComparedSides> CompareSelections(const SelectedSides& sides);

// Runs of two programs on this machine, by the sessions in which they were recorded.
struct RecordedSides {
  std::vector<std::uint64_t> base;
  std::vector<std::uint64_t> changed;
  std::string base_program;  // the common name of both main programs
  std::string new_program;
  std::string label;  // empty: all
  double least = 0;
};
// kNotFound if a side has no event.
Result<probe::ComparedSides> CompareRecorded(const RecordedSides& sides);

// All selected events with their hits, oldest first.
Result<std::vector<probe::Event>> LoadEvents(const std::string& selection, const std::string& db);

}  // namespace fieldcost::cli
