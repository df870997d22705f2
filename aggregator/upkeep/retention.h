#pragma once

#include <cstdint>

#include "aggregator/store/store.h"
#include "common/base/clock.h"
#include "common/base/result.h"

namespace fieldcost::aggregator {

// Weeks that may pass between two deletions by the server itself. If more pass, the clock is not
// trusted: deleted data does not come back, and the bound below which data is too old never goes
// back.
inline constexpr std::uint32_t kMaxWeeksBetweenDeletions = 8;

// Deletes rows from more than `weeks` weeks ago (0: none), ledger entries that are no longer
// needed, and held batches of agents whose probation cannot end any more, since batches of their
// epoch are not accepted.
//
// kUnavailable: nothing was deleted, since the clock is too far from the last deletion, or from the
// newest rows if there was none; the message explains how the operator can delete anyway.
Result<store::ExpiryReport> DeleteOld(store::Store& store, const Clock& clock, std::uint32_t weeks);

// The same for the operator, who names the first week whose rows stay, regardless of the last
// deletion: does what DeleteOld() would do `weeks` after that week. Without `yes`, changes nothing
// and returns what would be removed. With `yes`, `rows_left` and the weeks are not set.
//
// kInvalidArgument: by this clock the week has not come, or earlier weeks must be kept.
Result<store::ExpiryEffect> DeleteBefore(store::Store& store, const Clock& clock,
                                         std::uint32_t weeks, std::uint32_t before_week, bool yes);

}  // namespace fieldcost::aggregator
