#pragma once

#include <algorithm>
#include <cstdint>

#include "common/base/clock.h"
#include "common/base/strong_id.h"

namespace fieldcost::wire {

// An epoch is a quarter of 13 weeks since 1970, the same for all agents, so that it reveals nothing
// about any of them. An agent has a different key in each. Thread-safe.
using Epoch = StrongId<struct EpochTag, std::uint64_t>;

inline constexpr std::uint32_t kWeeksPerEpoch = 13;

// The epoch of all agents before keys had epochs.
inline constexpr Epoch kFirstEpoch{1};

// The epoch of the spring of 2025. A clock that shows an earlier one is wrong.
inline constexpr Epoch kEarliestEpoch{222};

// The epoch of a week as WeekOf() counts them, never before kFirstEpoch.
constexpr Epoch EpochOfWeek(std::uint32_t week) {
  return Epoch(std::max(kFirstEpoch.value(), std::uint64_t{week / kWeeksPerEpoch}));
}

// The first week of the quarter that contains the week: it identifies a quarter among weeks.
constexpr std::uint32_t FirstWeekOfQuarter(std::uint32_t week) {
  return week - week % kWeeksPerEpoch;
}

// The epoch that contains `now`.
inline Epoch EpochOf(WallTime now) { return EpochOfWeek(WeekOf(std::max(now, WallTime{}))); }

}  // namespace fieldcost::wire
