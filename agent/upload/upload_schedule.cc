#include "agent/upload/upload_schedule.h"

#include <algorithm>

#include "common/base/time_slots.h"
#include "common/shm/mix.h"

namespace fieldcost::upload {
namespace {

using std::chrono::microseconds;
using std::chrono::seconds;

constexpr std::chrono::hours kShortestPeriod{1};
constexpr std::uint64_t kUploadsInTwoWeeksOfBacklog = 7;  // half-day slots of a week, halved

WallTime::duration Part(WallTime::duration whole, std::uint64_t random) {
  return WallTime::duration(
      static_cast<std::int64_t>(shm::MixBits(random) % static_cast<std::uint64_t>(whole.count())));
}

seconds PeriodOf(const UploadState& state) {
  return std::clamp<seconds>(state.max_age, kShortestPeriod, kLongestPeriod);
}

seconds BacklogPeriodOf(const UploadState& state) {
  return std::min<seconds>(kBacklogPeriod, PeriodOf(state));
}

WallTime AtLeastInterval(const UploadState& state, WallTime now, WallTime next) {
  return std::max(next, now + std::min<seconds>(state.min_interval, kLongestPeriod));
}

}  // namespace

WallTime SlotAtOrAfter(std::uint64_t seed, WallTime from, seconds period) {
  return fieldcost::SlotAtOrAfter(from, Part(period, seed), period);
}

std::optional<WallTime> NextUploadTime(const UploadState& state, WallTime now) {
  WallTime due{};
  if (state.queued > 0) {
    due = SlotAtOrAfter(state.seed, std::min(state.oldest_queued, now), BacklogPeriodOf(state));
  } else if (state.oldest_pending) {
    const seconds period = PeriodOf(state);
    const WallTime too_old =
        std::min(*state.oldest_pending, now) + std::max<seconds>(state.max_age, period);
    due = SlotAtOrAfter(state.seed, too_old - period + microseconds(1), period);
  } else {
    return std::nullopt;
  }
  return std::max(due, state.next_try);
}

std::uint32_t BatchesAtOnce(const UploadState& state) {
  const std::uint64_t pace =
      (state.made_last_week + kUploadsInTwoWeeksOfBacklog - 1) / kUploadsInTwoWeeksOfBacklog;
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(pace, 1, kMaxBatchesAtOnce));
}

std::optional<Correction> CorrectNextTry(const UploadState& state, WallTime now,
                                         std::uint64_t random) {
  if (state.next_try > now + kLongestDelay) {
    return Correction{.next_try = now + Part(kRetryPeriod, random)};
  }
  const std::optional<WallTime> next = NextUploadTime(state, now);
  if (!next || *next >= now - kMissedAfter) return std::nullopt;
  return Correction{.next_try = now + Part(kMissedSpread, random), .new_slots = true};
}

WallTime NextTryInNewEpoch(const UploadState& state, WallTime now, std::uint64_t random) {
  return std::max(state.next_try, now + microseconds(1) + Part(PeriodOf(state), random));
}

WallTime NextTryAfterSuccess(const UploadState& state, WallTime now) {
  const seconds period = state.queued > 0 ? BacklogPeriodOf(state) : PeriodOf(state);
  return AtLeastInterval(state, now, SlotAtOrAfter(state.seed, now + period / 2, period));
}

WallTime NextTryAfterFailure(const UploadState& state, WallTime now, std::uint64_t random,
                             std::optional<seconds> retry_after) {
  WallTime next = now + kFirstRetryLeast + Part(kFirstRetryMost - kFirstRetryLeast, random);
  if (state.failures > 1) next = SlotAtOrAfter(state.seed, now + kRetryLeast, kRetryPeriod);
  if (retry_after && retry_after->count() > 0) {
    const WallTime::duration wish = std::min<seconds>(*retry_after, kLongestRetryAfter);
    next = std::max(next, now + wish + Part(wish / 2 + microseconds(1), shm::MixBits(random)));
  }
  return next;
}

}  // namespace fieldcost::upload
