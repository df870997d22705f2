#pragma once

#include <algorithm>
#include <cstdint>

#include "common/wire/epoch.h"

namespace fieldcost::store {

using wire::kWeeksPerEpoch;

// Batches are accepted from this many epochs before the current one to as many after it ...
inline constexpr std::uint32_t kEpochsAround = 1;
// ... with rows of at most this many weeks after the current one.
inline constexpr std::uint32_t kWeeksAhead = 1;

struct RetentionBounds {
  std::uint32_t first_week = 0;
  wire::Epoch first_epoch{0};
  // Batches of earlier epochs are no longer accepted, so their held and kept batches are useless.
  // Not before first_epoch.
  wire::Epoch first_open_epoch{0};
};

// Computes what to keep in `current_week` if rows are kept for `weeks` (0: forever; nothing
// expires).
//
// An epoch may be forgotten only once its batches can no longer be accepted (otherwise a replay
// would be counted twice) and everything that they may have added has expired (otherwise its owner
// could not withdraw it). The last batch of epoch e is accepted in the last week of epoch e +
// kEpochsAround, with rows of at most kWeeksAhead weeks later: all weeks are before (e +
// kEpochsAround + 1) * 13 + kWeeksAhead. So the epoch is forgotten once this bound is not after
// first_week; and since first_week is not after the current week, epoch e is then further back than
// kEpochsAround. Pure.
constexpr RetentionBounds BoundsOf(std::uint32_t current_week, std::uint32_t weeks) {
  const std::uint32_t epoch = current_week / kWeeksPerEpoch;
  const wire::Epoch first_open_epoch(epoch - std::min(epoch, kEpochsAround));
  if (weeks == 0 || weeks > current_week) return {.first_open_epoch = first_open_epoch};
  const std::uint32_t first_week = current_week - weeks;
  const std::uint32_t whole_epochs =
      (std::max(first_week, kWeeksAhead) - kWeeksAhead) / kWeeksPerEpoch;
  return {.first_week = first_week,
          .first_epoch = wire::Epoch(std::max(whole_epochs, kEpochsAround) - kEpochsAround),
          .first_open_epoch = first_open_epoch};
}

}  // namespace fieldcost::store
