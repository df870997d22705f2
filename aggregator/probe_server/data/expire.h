#pragma once

#include <chrono>
#include <cstdint>

#include "aggregator/probe_server/data/data.h"
#include "common/base/clock.h"

namespace fieldcost::probe_server {

inline constexpr std::size_t kExpireAtOnce = 200;  // events; other writes wait in the meantime

// Removes events that began more than `days` ago, at most kExpireAtOnce of them. REQUIRES: a
// transaction.
Result<probe::Removed> ExpireSome(Data& data, std::uint64_t days, WallTime now);
// The same for events that begin more than kMostAhead after `now`.
Result<probe::Removed> ExpireFuture(Data& data, WallTime now);

// Removes other old data: sessions, failed logins, quota usage. REQUIRES: a transaction.
Status ForgetOld(Data& data, std::uint64_t days, WallTime now);

}  // namespace fieldcost::probe_server
