#pragma once

#include <boost/json.hpp>
#include <span>
#include <vector>

#include "common/probe/compare_events.h"
#include "common/probe/groups.h"
#include "common/probe/types.h"
#include "common/probe/value_names.h"

namespace fieldcost::probe {

// JSON of events and comparisons, the same in the output of commands and in the server's API. Pure.
// Texts may contain any bytes, so write the values with JsonText().

boost::json::array StackJson(std::span<const Frame> stack);
// {"label", "program", "tags"}
boost::json::object GroupJson(const GroupKey& key);
// {"name", "base_events", ..., "p", "q", "change"}
boost::json::object ChangeJson(const StepChange& change);
boost::json::array ChangesJson(std::span<const StepChange> changes);
// [{"label", "program", "tags", "side", "events"}]
boost::json::array LeftOutJson(std::span<const LeftOutGroup> groups);
// [{"program", "tags", "builds": [{"build", "first_ns", ..., "change"}]}]
boost::json::array HistoryLinesJson(std::span<const HistoryLine> lines);

}  // namespace fieldcost::probe
