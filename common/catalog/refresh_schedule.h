#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "common/base/clock.h"

namespace fieldcost::catalog {

// When a client refreshes its catalogue by itself. Pure functions of time and state; no clock, disk
// or network inside.
//
// Each catalogue has its own slots: a random moment of the service's refresh period, repeated each
// period, so that a fleet spreads evenly. A failed attempt is repeated once, within 0.7 of a
// period, and then at this catalogue's slots, which become rarer; so a server that recovers from an
// outage never meets a crowd.

inline constexpr std::chrono::hours kShortestRefreshPeriod{1};
inline constexpr std::chrono::hours kLongestRefreshPeriod{28 * 24};
inline constexpr std::chrono::hours kUnknownRefreshPeriod{24};  // until the service has named one
// An attempt that is later than this was slept through, or a timer looked late. It is put off once
// more, by up to four times as long as it was late, so that machines that wake together spread out.
inline constexpr std::chrono::minutes kRefreshIsPunctual{1};
inline constexpr std::chrono::minutes kRefreshAfterMissIsPunctual{40};  // timers look within 30
inline constexpr int kMissedRefreshParts = 4;
inline constexpr std::chrono::hours kMissedRefreshSpread{4};  // at most
// Delay while the machine should not use the network (battery, metered connection).
inline constexpr std::chrono::hours kRefreshPostponed{1};
// The period of slots after the second failure in a row; doubles with each further one, up to the
// service's period.
inline constexpr std::chrono::hours kFirstRetrySlots{24};

// The catalogue keeps all of it.
struct RefreshState {
  std::uint64_t seed = 0;          // drawn once
  std::chrono::seconds period{0};  // refresh_seconds as signed by the service; 0 = not known yet
  std::uint32_t failures = 0;      // in a row
  WallTime next_try{};             // 0 = never tried
  bool was_missed = false;         // next_try makes up for a missed attempt
  bool operator==(const RefreshState&) const = default;
};

class RefreshSchedule {
 public:
  explicit RefreshSchedule(const RefreshState& state) : state_(state) {}

  // The service's period within the limits above.
  std::chrono::seconds Period() const;
  // At once if never tried.
  bool IsDue(WallTime now) const { return state_.next_try <= now; }

  // Another state, if the time of the next attempt makes no sense any more: the machine slept
  // through it, or the clock went back.
  std::optional<RefreshState> Corrected(WallTime now) const;
  // The state after an attempt that ended at `now`, or that was put off.
  RefreshState AfterSuccess(WallTime now) const;
  RefreshState AfterFailure(WallTime now) const;
  RefreshState Postponed(WallTime now) const;

 private:
  WallTime SlotAfter(WallTime from, std::chrono::seconds period) const;
  // A part of `whole` that depends on the seed and on `now` only.
  WallTime::duration PartOf(WallTime::duration whole, WallTime now) const;

  RefreshState state_;
};

}  // namespace fieldcost::catalog
