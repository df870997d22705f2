#pragma once

#include <cstdint>

#include "aggregator/store/store.h"
#include "common/base/clock.h"
#include "common/base/result.h"

namespace fieldcost::aggregator {

// Weeks that may pass between two deletions by the server itself. If more pass, the clock is not
// believed: what is deleted does not come back, and what counts as too old never goes back.
inline constexpr std::uint32_t kMaxWeeksBetweenDeletions = 8;

// Deletes rows of more than `weeks` weeks ago (0: none), what the ledger need not know any more,
// and what is held of agents that cannot end their probation any more, since no batch of their
// epoch is taken.
//
// kUnavailable: nothing was deleted, since the clock is too far from the last deletion, or from
// the newest rows if there was none; the message says how the operator has it done all the same.
Result<store::ExpiryReport> DeleteOld(store::Store& store, const Clock& clock, std::uint32_t weeks);

// The same for the operator, who names the first week whose rows stay, whatever the last deletion:
// what DeleteOld() would do `weeks` after that week. Only if `yes`; otherwise nothing is changed
// and the result is what it would remove. `rows_left` and the weeks are not set for what was done.
//
// kInvalidArgument: by this clock the week has not come, or its predecessors are to be kept.
Result<store::ExpiryEffect> DeleteBefore(store::Store& store, const Clock& clock,
                                         std::uint32_t weeks, std::uint32_t before_week, bool yes);

}  // namespace fieldcost::aggregator
