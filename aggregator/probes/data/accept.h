#pragma once

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
  std::uint64_t steps_of_user = 0;  // within `days`
  std::uint64_t days = 0;           // that events are kept
};

// Adds it to the events and to the ledger, which has each batch of each device. True: it was there
// already. kAlreadyExists: that number was another batch's; kUnauthenticated: the device was
// revoked; kTooLarge: the quota is used up. REQUIRES: a transaction.
Result<bool> AcceptBatch(Data& data, const Arrival& arrival, const Quota& quota, WallTime now);

}  // namespace fieldcost::probe_server
