#include "aggregator/probes/data/accept.h"

#include <algorithm>
#include <chrono>

#include "common/base/check.h"

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

Status CheckQuota(Data& data, const Arrival& arrival, const Quota& quota, std::uint64_t today) {
  const std::uint64_t since = today - std::min(today, quota.days);
  FIELDCOST_ASSIGN(const std::uint64_t used, StepsOf(data.database(), arrival.user, since));
  if (used + arrival.batch.hits.size() <= quota.steps_of_user) return {};
  return Fail(ErrorCode::kTooLarge,
              "the user's quota is used up: {} steps came within {} days, and {} are allowed; ask "
              "the operator for more (data.steps_per_user)",
              used, quota.days, quota.steps_of_user);
}

}  // namespace

Result<bool> AcceptBatch(Data& data, const Arrival& arrival, const Quota& quota, WallTime now) {
  sqlite::Database& database = data.database();
  FIELDCOST_CHECK(database.InTransaction());
  // Its token was good when the request came; that may have changed since.
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
  const std::uint64_t today = DayOf(now);
  FIELDCOST_TRY(CheckQuota(data, arrival, quota, today));
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
                    .Int(arrival.batch.hits.size())
                    .Run());
  FIELDCOST_TRY(data.events().Add(arrival.batch, arrival.user.value()));
  return false;
}

}  // namespace fieldcost::probe_server
