#include "common/catalog/refresh_schedule.h"

#include <algorithm>

#include "common/base/time_slots.h"
#include "common/shm/mix.h"

namespace fieldcost::catalog {
namespace {

using std::chrono::microseconds;
using std::chrono::seconds;

constexpr std::uint32_t kMaxDoublings = 8;  // beyond the longest period
constexpr int kFirstRetryParts = 24;        // the first retry waits at least this part of a period

microseconds Part(microseconds whole, std::uint64_t random) {
  return microseconds(
      static_cast<std::int64_t>(shm::MixBits(random) % static_cast<std::uint64_t>(whole.count())));
}

}  // namespace

seconds RefreshSchedule::Period() const {
  if (state_.period == seconds(0)) return kUnknownRefreshPeriod;
  return std::clamp<seconds>(state_.period, kShortestRefreshPeriod, kLongestRefreshPeriod);
}

WallTime RefreshSchedule::SlotAfter(WallTime from, seconds period) const {
  if (state_.moved_slot == WallTime{}) {
    return SlotAtOrAfter(from, Part(period, state_.seed), period);
  }
  return SlotAtOrAfter(from, state_.moved_slot.time_since_epoch() % period, period);
}

WallTime::duration RefreshSchedule::PartOf(WallTime::duration whole, WallTime now) const {
  return Part(whole, shm::HashNumber(MicrosOf(now), shm::HashNumber(state_.seed)));
}

std::optional<RefreshState> RefreshSchedule::Corrected(WallTime now) const {
  RefreshState state = state_;
  if (state_.next_try > now + 2 * Period()) {
    state.next_try = now + PartOf(Period(), now);
    return state;
  }
  if (state_.next_try == WallTime{}) return std::nullopt;
  const microseconds late = now - state_.next_try;
  const bool was_put_off = state_.put_offs == kMaxPutOffs;
  if (late <= (was_put_off ? kRefreshIsSlightlyLate : kRefreshIsPunctual)) return std::nullopt;
  if (late <= kRefreshIsSlightlyLate) {
    if (state.put_offs == 0) state.missed_slots = 0;
    state.put_offs = kMaxPutOffs;
    state.next_try = now + PartOf(std::min<seconds>(kSlightlyLateSpread, Period()), now);
    return state;
  }
  if (state_.missed_slots == 0 && PartOf(microseconds(3), now) != microseconds(0)) {
    state.missed_slots = 1;
    state.put_offs = 0;
    state.next_try = SlotAfter(now, Period());
    return state;
  }
  const microseconds longest = Period() / (1 << state_.missed_slots);
  const bool is_short = late < longest / kMissedRefreshParts;
  state.next_try = now + PartOf(is_short ? late * kMissedRefreshParts : longest, now);
  state.moved_slot = state.next_try;
  state.put_offs = 1;
  state.missed_slots = std::min(state_.missed_slots + 1, kMaxMissedSlots);
  return state;
}

RefreshState RefreshSchedule::AfterSuccess(WallTime now) const {
  RefreshState state = state_;
  if (state_.put_offs == 0) state.missed_slots = 0;
  state.put_offs = 0;
  state.failures = 0;
  state.next_try = SlotAfter(now + Period() / 2, Period());
  return state;
}

RefreshState RefreshSchedule::AfterFailure(WallTime now) const {
  RefreshState state = state_;
  state.put_offs = 0;
  ++state.failures;
  if (state.failures == 1) {
    const microseconds period = Period();
    state.next_try = now + period / kFirstRetryParts + PartOf(period * 2 / 3, now);
    return state;
  }
  const std::uint32_t doublings = std::min(state.failures - 2, kMaxDoublings);
  const seconds slots = std::min<seconds>(Period(), kFirstRetrySlots * (1 << doublings));
  state.next_try = SlotAfter(now + slots / 2, slots);
  return state;
}

RefreshState RefreshSchedule::Postponed(WallTime now) const {
  RefreshState state = state_;
  state.next_try = now + kRefreshPostponed;
  return state;
}

}  // namespace fieldcost::catalog
