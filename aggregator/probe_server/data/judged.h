#pragma once

#include <span>
#include <vector>

#include "common/base/result.h"
#include "common/probe/event_store.h"
#include "common/probe/set_aside.h"

namespace fieldcost::probe_server {

// Maximum number of events of the same label, program and build that an event is compared with: the
// nearest ones in time.
inline constexpr std::size_t kJudgedWith = 1'000;

// Returns a verdict for each row by comparing it with all similar events, because those on one page
// of a list are not enough. Errors: the store's.
Result<std::vector<probe::Judgement>> JudgeRows(const probe::EventStore& events,
                                                std::span<const probe::EventRow> rows);

}  // namespace fieldcost::probe_server
