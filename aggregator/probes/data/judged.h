#pragma once

#include <span>
#include <vector>

#include "common/base/result.h"
#include "common/probe/event_store.h"
#include "common/probe/set_aside.h"

namespace fieldcost::probe_server {

// How many events of a label, program and build one is compared with: those that are at most so
// many away from it in time.
inline constexpr std::size_t kJudgedWith = 1'000;

// A verdict for each of these rows, told by all events that are like it: a page of a list is too
// little to tell. Errors: the store's.
Result<std::vector<probe::Verdict>> JudgeRows(const probe::EventStore& events,
                                              std::span<const probe::EventRow> rows);

}  // namespace fieldcost::probe_server
