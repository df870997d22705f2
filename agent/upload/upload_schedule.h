#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "common/base/clock.h"

namespace fieldcost::upload {

// When an agent uploads. Pure functions of time and state, the same in the agent and in the fleet
// simulation (tests/bench/fleet_simulation.cc); no clock, disk or network inside.
//
// Every agent has its own slots: a random minute, repeated each period. The period is the
// maximum age of a batch, a week at most, so that a fleet spreads over days and hours of the week.
// Waiting data leaves at the last slot before it is too old; full batches at the next half-day
// slot. README.md shows the resulting load on a server.

inline constexpr std::chrono::hours kLongestPeriod{7 * 24};
inline constexpr std::chrono::hours kBacklogPeriod{12};
// The first failure may be transient. From the second on, an agent retries at its first daily slot
// at least kRetryLeast away, so that a server that recovers never meets more than its usual load.
inline constexpr std::chrono::minutes kFirstRetryLeast{1};
inline constexpr std::chrono::minutes kFirstRetryMost{10};
inline constexpr std::chrono::hours kRetryPeriod{24};
inline constexpr std::chrono::hours kRetryLeast{12};
inline constexpr std::chrono::hours kLongestRetryAfter{24};  // longest Retry-After that is honoured
// A slot that passed longer ago than kMissedAfter was slept through. Machines that wake together
// spread their uploads over kMissedSpread, and get new slots, so that most find slots at which they
// are awake.
inline constexpr std::chrono::hours kMissedAfter{1};
inline constexpr std::chrono::hours kMissedSpread{4};
// A next try further away than this is due to a wrong clock.
inline constexpr std::chrono::hours kLongestDelay{14 * 24};
inline constexpr std::uint32_t kMaxBatchesAtOnce = 16;

// The agent's state; the last three are durable.
struct UploadState {
  std::uint64_t seed = 0;  // random, per agent and epoch
  std::chrono::seconds max_age{24 * 3600};
  std::chrono::seconds min_interval{3600};  // between two uploads, from the field policy
  std::optional<WallTime> oldest_pending;
  std::uint64_t queued = 0;  // batches in the spool
  WallTime oldest_queued{};
  std::uint64_t made_last_week = 0;  // batches
  std::uint32_t failures = 0;        // in a row
  WallTime next_try{};               // earliest time; 0 = never tried
};

// When to upload next; nullopt if there is nothing to upload. At or before `now` means now; a slot
// that was slept through is not moved here but by CorrectNextTry().
std::optional<WallTime> NextUploadTime(const UploadState& state, WallTime now);

// The maximum number of batches in the upload that is due: twice what the agent makes in the same
// time, so that the backlog of an outage drains without more than doubling the server's load.
std::uint32_t BatchesAtOnce(const UploadState& state);

struct Correction {
  WallTime next_try{};
  bool new_slots = false;  // needs another seed: the machine sleeps at these slots
};
// A new `next_try` if the one of `state` is beyond kLongestDelay (the clock went back), or the next
// upload was due more than kMissedAfter ago (the machine slept). `random` is any number.
std::optional<Correction> CorrectNextTry(const UploadState& state, WallTime now,
                                         std::uint64_t random);

// The `next_try` when an epoch begins, since its key has new slots. For half of a fleet the new
// slot has just passed; they spread over a whole period, as at any other time.
WallTime NextTryInNewEpoch(const UploadState& state, WallTime now, std::uint64_t random);

// The `next_try` after an upload that succeeded; `state.queued` is what it left.
WallTime NextTryAfterSuccess(const UploadState& state, WallTime now);

// The `next_try` after a failure; `state.failures` counts it. Honours `retry_after`, spread by
// up to half of it.
WallTime NextTryAfterFailure(const UploadState& state, WallTime now, std::uint64_t random,
                             std::optional<std::chrono::seconds> retry_after);

// The first of the slots at or after `from`.
WallTime SlotAtOrAfter(std::uint64_t seed, WallTime from, std::chrono::seconds period);

}  // namespace fieldcost::upload
