#pragma once

#include <cstdint>

#include "aggregator/store/store.h"
#include "common/base/clock.h"
#include "common/base/result.h"

namespace fieldcost::aggregator {

// Maximum number of weeks between two deletions by the server itself. After more, the clock is not
// trusted: deleted data cannot be recovered, and the bound for expired data never decreases.
inline constexpr std::uint32_t kMaxWeeksBetweenDeletions = 8;

// Deletes rows from more than `weeks` weeks ago (0: none), ledger entries that are no longer
// needed, and held batches of agents whose probation can no longer end, since batches of their
// epoch are not accepted.
//
// kUnavailable: nothing was deleted, since the clock is too far from the last deletion or, if there
// was none, from the newest rows; the message explains how the operator can delete anyway.
Result<store::ExpiryReport> DeleteOld(store::Store& store, const Clock& clock, std::uint32_t weeks);

// The same for the operator, who chooses the first week whose rows stay, regardless of the last
// deletion: does what DeleteOld() would do `weeks` after that week. Without `yes`, changes nothing
// and returns what would be removed. With `yes`, `rows_left` and the weeks are not set.
//
// kInvalidArgument: according to the clock, the week is in the future, or earlier weeks must be
// kept.
Result<store::ExpiryEffect> DeleteBefore(store::Store& store, const Clock& clock,
                                         std::uint32_t weeks, std::uint32_t before_week, bool yes);

}  // namespace fieldcost::aggregator
