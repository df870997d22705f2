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
  return SlotAtOrAfter(from, Part(period, state_.seed), period);
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
  if (late <= (state_.was_missed ? kRefreshAfterMissIsPunctual : kRefreshIsPunctual)) {
    return std::nullopt;
  }
  const microseconds longest = std::min<seconds>(kMissedRefreshSpread, Period());
  state.next_try =
      now +
      PartOf(late < longest / kMissedRefreshParts ? late * kMissedRefreshParts : longest, now);
  state.was_missed = true;
  return state;
}

RefreshState RefreshSchedule::AfterSuccess(WallTime now) const {
  RefreshState state = state_;
  state.was_missed = false;
  state.failures = 0;
  state.next_try = SlotAfter(now + Period() / 2, Period());
  return state;
}

RefreshState RefreshSchedule::AfterFailure(WallTime now) const {
  RefreshState state = state_;
  state.was_missed = false;
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
