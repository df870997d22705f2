#include "aggregator/probe_server/accounts/devices.h"

#include "common/base/clock.h"
#include "common/base/text.h"
#include "common/crypto/random.h"
#include "common/crypto/sha256.h"

namespace fieldcost::probe_server {
namespace {

constexpr std::size_t kTokenBytes = 32;

Device DeviceOf(const sqlite::Statement& statement) {
  return {.id = DeviceId(statement.ColumnInt(0)),
          .user = UserId(statement.ColumnInt(1)),
          .name = statement.ColumnText(2),
          .created = TimeOfMicros(statement.ColumnInt(3)),
          .is_revoked = statement.ColumnInt(4) != 0};
}

}  // namespace

Result<NewDevice> AddDevice(sqlite::Database& database, UserId user,
                            std::string_view untrusted_name, WallTime now) {
  FIELDCOST_TRY(CheckName("device", untrusted_name));
  NewDevice made{.token = HexEncode(crypto::RandomBytes(kTokenBytes))};
  FIELDCOST_TRY(database
                    .Prepare("INSERT INTO device (user, name, token, created) SELECT ?1, ?2, ?3, "
                             "?4 WHERE (SELECT count(*) FROM device WHERE user = ?1 AND NOT "
                             "revoked) < ?5")
                    .Int(user.value())
                    .Text(untrusted_name)
                    .Blob(crypto::Sha256(made.token))
                    .Int(MicrosOf(now))
                    .Int(kMaxDevicesOfUser)
                    .Run());
  if (database.changes() == 0) {
    return Fail(ErrorCode::kTooLarge, "add a device: the user has {} already; revoke some",
                kMaxDevicesOfUser);
  }
  FIELDCOST_ASSIGN(const std::uint64_t id, database.QueryInt("SELECT last_insert_rowid()"));
  made.id = DeviceId(id);
  return made;
}

Result<std::optional<Device>> FindDevice(sqlite::Database& database,
                                         std::string_view untrusted_token) {
  const auto bytes = HexDecode(untrusted_token);
  if (!bytes || bytes->size() != kTokenBytes) return std::optional<Device>();
  sqlite::Statement statement = database.Prepare(
      "SELECT id, user, name, created, revoked FROM device WHERE token = ? AND NOT revoked");
  statement.Blob(crypto::Sha256(untrusted_token));
  FIELDCOST_ASSIGN(const bool found, statement.Step());
  if (!found) return std::optional<Device>();
  return std::optional<Device>(DeviceOf(statement));
}

Result<bool> IsDeviceActive(sqlite::Database& database, DeviceId device) {
  sqlite::Statement statement =
      database.Prepare("SELECT 1 FROM device WHERE id = ? AND NOT revoked");
  statement.Int(device.value());
  return statement.Step();
}

Result<std::vector<Device>> ListDevices(sqlite::Database& database, std::optional<UserId> user) {
  std::vector<Device> devices;
  sqlite::Statement statement = database.Prepare(
      "SELECT id, user, name, created, revoked FROM device WHERE ?1 = 0 OR user = ?1 ORDER BY id "
      "DESC");
  statement.Int(user ? user->value() : 0);
  for (;;) {
    FIELDCOST_ASSIGN(const bool more, statement.Step());
    if (!more) return devices;
    devices.push_back(DeviceOf(statement));
  }
}

Status RevokeDevice(sqlite::Database& database, DeviceId device, std::optional<UserId> user) {
  FIELDCOST_TRY(
      database.Prepare("UPDATE device SET revoked = 1 WHERE id = ?1 AND (?2 = 0 OR user = ?2)")
          .Int(device.value())
          .Int(user ? user->value() : 0)
          .Run());
  if (database.changes() != 0) return {};
  return Fail(ErrorCode::kNotFound, "revoke device {}: there is no such device", device.value());
}

}  // namespace fieldcost::probe_server
