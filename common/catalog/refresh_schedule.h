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
// period, so that a fleet spreads evenly. If the machine sleeps through one, another moment of the
// period becomes the slot, until the machine runs at it; so machines that all wake at once spread
// over the period, and those that run only by day soon have slots by day. A failed attempt is
// repeated once, within 0.7 of a period, and then at this catalogue's slots, which become rarer; so
// a server that recovers from an outage never meets a crowd.

inline constexpr std::chrono::hours kShortestRefreshPeriod{1};
inline constexpr std::chrono::hours kLongestRefreshPeriod{28 * 24};
inline constexpr std::chrono::hours kUnknownRefreshPeriod{24};  // until the service has named one
// An attempt that is later than this is put off once more, by a random time.
inline constexpr std::chrono::seconds kRefreshIsPunctual{10};
// Up to here, a timer looked late (it does within 30 minutes), or the machine slept briefly. The
// slot stays, and the attempt is put off by at most ...
inline constexpr std::chrono::minutes kRefreshIsSlightlyLate{40};
inline constexpr std::chrono::minutes kSlightlyLateSpread{160};
// Later ones were slept through. In two of three cases, the first one waits for its next slot, so
// that slots stay evenly spread. The others are put off by at most this multiple of their lateness,
// and at most by the period. The latter is halved for each further slot missed in a row, so that a
// machine that seldom runs is refreshed nevertheless.
inline constexpr int kMissedRefreshParts = 16;
inline constexpr std::uint32_t kMaxMissedSlots = 5;  // counted
inline constexpr std::uint32_t kMaxPutOffs = 2;
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
  // How often the attempt at next_try was put off: 0, 1 after the machine slept through its slot,
  // or kMaxPutOffs. Then it is no longer put off because it is slightly late.
  std::uint32_t put_offs = 0;
  std::uint32_t missed_slots = 0;  // slept through in a row
  WallTime moved_slot{};           // a slot that replaces those of the seed; 0 = none
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
