#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "aggregator/probes/accounts/devices.h"
#include "aggregator/probes/data/data.h"
#include "common/base/clock.h"
#include "common/probe/types.h"

namespace fieldcost::probe_server {

// A batch as it came.
struct Arrival {
  DeviceId device;
  UserId user;
  std::string body_hash;  // SHA-256 of the body
  probe::Batch batch;     // valid
};

struct Quota {
  // Within `days`. Everything that a batch adds counts: a point is one, and 60 bytes of anything
  // else (events, labels, frames, tags) are another.
  std::uint64_t steps_of_user = 0;
  std::uint64_t days = 0;  // that events are kept
};

inline constexpr std::chrono::hours kMostAhead{24};  // of a device's clock

// Adds it to the events and to the ledger, which has each batch of each device. True: it was there
// already. kInvalidArgument: it has times that the server's clock does not reach within kMostAhead;
// kAlreadyExists: that number was another batch's; kUnauthenticated: the device was
// revoked; kTooLarge: the quota is used up. REQUIRES: a transaction.
Result<bool> AcceptBatch(Data& data, const Arrival& arrival, const Quota& quota, WallTime now);

}  // namespace fieldcost::probe_server
