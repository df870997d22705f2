#include "aggregator/probe_server/data/accept.h"

#include <algorithm>
#include <chrono>

#include "common/base/check.h"
#include "common/base/clock.h"
#include "common/probe/probe_limits.h"

namespace fieldcost::probe_server {
namespace {

std::uint64_t DayOf(WallTime time) {
  return static_cast<std::uint64_t>(
      std::chrono::floor<std::chrono::days>(time).time_since_epoch().count());
}

Result<std::uint64_t> StepsOf(sqlite::Database& database, UserId user, std::uint64_t since_day) {
  sqlite::Statement statement =
      database.Prepare("SELECT sum(steps) FROM usage WHERE user = ? AND day >= ?");
  statement.Int(user.value()).Int(since_day);
  FIELDCOST_ASSIGN(const bool has_row, statement.Step());
  return has_row ? statement.ColumnInt(0) : 0;
}

Status CheckQuota(Data& data, const Arrival& arrival, const Quota& quota, std::uint64_t today,
                  std::uint64_t steps) {
  const std::uint64_t since = today - std::min(today, quota.days);
  FIELDCOST_ASSIGN(const std::uint64_t used, StepsOf(data.database(), arrival.user, since));
  if (used + steps <= quota.steps_of_user) return {};
  return Fail(ErrorCode::kTooLarge,
              "the user's quota is used up: {} points came within {} days, and {} are allowed; ask "
              "the operator for more (data.points_per_user)",
              used, quota.days, quota.steps_of_user);
}

// Events with later dates would head every list and never expire.
Status CheckTimes(const probe::Batch& batch, WallTime now) {
  const std::uint64_t most = MicrosOf(now + kMostAhead) * 1'000;
  std::uint64_t last = 0;
  for (const probe::Run& run : batch.runs) last = std::max(last, run.start_ns);
  for (const probe::EventInfo& event : batch.events) {
    last = std::max({last, event.begin_ns, event.end_ns});
  }
  for (const probe::Hit& hit : batch.hits) last = std::max(last, hit.ns);
  if (last <= most) return {};
  return Fail(ErrorCode::kInvalidArgument,
              "batch of probe points: a time in it is more than {} hours ahead of the server's "
              "clock; set the machine's clock",
              kMostAhead.count());
}

}  // namespace

Result<bool> AcceptBatch(Data& data, const Arrival& arrival, const Quota& quota, WallTime now) {
  sqlite::Database& database = data.database();
  FIELDCOST_CHECK(database.InTransaction());
  // The token was valid when the request arrived, but may have been revoked since.
  FIELDCOST_ASSIGN(const bool is_active, IsDeviceActive(database, arrival.device));
  if (!is_active) return Fail(ErrorCode::kUnauthenticated, "the device's token is revoked");
  sqlite::Statement known =
      database.Prepare("SELECT hash FROM ledger WHERE device = ? AND sequence = ?");
  known.Int(arrival.device.value()).Int(arrival.batch.sequence);
  FIELDCOST_ASSIGN(const bool is_known, known.Step());
  if (is_known) {
    if (known.ColumnView(0) == arrival.body_hash) return true;
    return Fail(ErrorCode::kAlreadyExists, "number {} was used for another batch of this device",
                arrival.batch.sequence);
  }
  FIELDCOST_TRY(CheckTimes(arrival.batch, now));
  const std::uint64_t today = DayOf(now);
  // Check before adding the batch, and again once its size is known.
  const std::uint64_t least = std::max<std::uint64_t>(arrival.batch.hits.size(), 1);
  FIELDCOST_TRY(CheckQuota(data, arrival, quota, today, least));
  FIELDCOST_ASSIGN(const std::uint64_t bytes,
                   data.events().Add(arrival.batch, arrival.user.value()));
  const std::uint64_t steps =
      std::max(least, (bytes + probe::kBytesOfHit - 1) / probe::kBytesOfHit);
  FIELDCOST_TRY(CheckQuota(data, arrival, quota, today, steps));
  FIELDCOST_TRY(database.Prepare("INSERT INTO ledger (device, sequence, hash) VALUES (?, ?, ?)")
                    .Int(arrival.device.value())
                    .Int(arrival.batch.sequence)
                    .Blob(arrival.body_hash)
                    .Run());
  FIELDCOST_TRY(database
                    .Prepare("INSERT INTO usage (user, day, steps) VALUES (?, ?, ?) ON CONFLICT "
                             "(user, day) DO UPDATE SET steps = steps + excluded.steps")
                    .Int(arrival.user.value())
                    .Int(today)
                    .Int(steps)
                    .Run());
  return false;
}

}  // namespace fieldcost::probe_server
