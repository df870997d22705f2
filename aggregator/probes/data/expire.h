#pragma once

#include <chrono>
#include <cstdint>

#include "aggregator/probes/data/data.h"
#include "common/base/clock.h"

namespace fieldcost::probe_server {

inline constexpr std::size_t kExpireAtOnce = 200;  // events: others wait for them

// Removes events that began more than `days` ago, at most kExpireAtOnce of them. REQUIRES: a
// transaction.
Result<probe::Removed> ExpireSome(Data& data, std::uint64_t days, WallTime now);
// The same of events that begin more than kMostAhead after now.
Result<probe::Removed> ExpireFuture(Data& data, WallTime now);

// Removes what else is too old: sessions, failures, what was used of quotas. REQUIRES: as above.
Status ForgetOld(Data& data, std::uint64_t days, WallTime now);

}  // namespace fieldcost::probe_server
