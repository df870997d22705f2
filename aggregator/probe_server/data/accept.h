#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "aggregator/probe_server/accounts/devices.h"
#include "aggregator/probe_server/data/data.h"
#include "common/base/clock.h"
#include "common/probe/types.h"

namespace fieldcost::probe_server {

// A batch as received.
struct Arrival {
  DeviceId device;
  UserId user;
  std::string body_hash;  // SHA-256 of the body
  probe::Batch batch;     // valid
};

struct Quota {
  // Points received within `days`. Everything that a batch adds counts: each point as one, and
  // every 60 bytes of anything else (events, labels, frames, tags) as one more.
  std::uint64_t steps_of_user = 0;
  std::uint64_t days = 0;  // for which events are kept
};

inline constexpr std::chrono::hours kMostAhead{24};  // how far a device's clock may be ahead

// Adds the batch to the events and to the ledger, which records every batch of every device.
// Returns true if it had been accepted before. kInvalidArgument: it contains times more than
// kMostAhead after `now`; kAlreadyExists: its number belongs to a different batch;
// kUnauthenticated: the device has been revoked; kTooLarge: the quota is used up. REQUIRES: a
// transaction.
Result<bool> AcceptBatch(Data& data, const Arrival& arrival, const Quota& quota, WallTime now);

}  // namespace fieldcost::probe_server
