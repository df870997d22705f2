#pragma once

#include <cstdint>

#include "aggregator/store/store.h"
#include "common/base/clock.h"
#include "common/base/result.h"

namespace fieldcost::aggregator {

// Weeks that may pass between two deletions by the server itself. More, and it is the clock that is
// not believed: what is deleted does not come back, and what counts as too old never goes back.
inline constexpr std::uint32_t kMaxWeeksBetweenDeletions = 8;

enum class DeletionBy { kServer, kOperator };

// Deletes rows of more than `weeks` weeks ago (0: none), what the ledger need not know any more,
// and what is held of agents that cannot end their probation any more, since no batch of their
// epoch is taken.
//
// kUnavailable: nothing was deleted, since the clock is too far from the last deletion, or from
// the newest rows if there was none; the operator may have it done all the same.
Result<store::ExpiryReport> DeleteOld(store::Store& store, const Clock& clock, std::uint32_t weeks,
                                      DeletionBy by);

}  // namespace fieldcost::aggregator
