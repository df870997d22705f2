#include "aggregator/probe_server/data/expire.h"

#include "aggregator/probe_server/accounts/guessing.h"
#include "aggregator/probe_server/accounts/sessions.h"
#include "aggregator/probe_server/data/accept.h"
#include "aggregator/probe_server/data/audit.h"
#include "common/base/check.h"
#include "common/base/clock.h"

namespace fieldcost::probe_server {

Result<probe::Removed> ExpireSome(Data& data, std::uint64_t days, WallTime now) {
  FIELDCOST_CHECK(data.database().InTransaction());
  const WallTime before = now - std::chrono::days(days);
  return data.events().Expire(MicrosOf(before) * 1'000, kExpireAtOnce);
}

Result<probe::Removed> ExpireFuture(Data& data, WallTime now) {
  FIELDCOST_CHECK(data.database().InTransaction());
  return data.events().ExpireFuture(MicrosOf(now + kMostAhead) * 1'000, kExpireAtOnce);
}

Status ForgetOld(Data& data, std::uint64_t days, WallTime now) {
  FIELDCOST_CHECK(data.database().InTransaction());
  FIELDCOST_TRY(ForgetOldSessions(data.database(), now));
  FIELDCOST_TRY(ForgetOldFailures(data.database(), now));
  FIELDCOST_TRY(ForgetOldAudit(data, now));
  const auto day = std::chrono::floor<std::chrono::days>(now - std::chrono::days(days));
  return data.database()
      .Prepare("DELETE FROM usage WHERE day < ?")
      .Int(static_cast<std::uint64_t>(day.time_since_epoch().count()))
      .Run();
}

}  // namespace fieldcost::probe_server
