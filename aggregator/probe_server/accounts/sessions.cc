#include "aggregator/probe_server/accounts/sessions.h"

#include "common/base/check.h"
#include "common/base/clock.h"
#include "common/base/text.h"
#include "common/crypto/random.h"
#include "common/crypto/sha256.h"

namespace fieldcost::probe_server {
namespace {

constexpr std::size_t kIdBytes = 32;
// The resolution of the last use: not every page view is recorded.
constexpr std::chrono::minutes kTouchInterval{5};

bool IsId(std::string_view untrusted_id) {
  const auto bytes = HexDecode(untrusted_id);
  return bytes && bytes->size() == kIdBytes;
}

}  // namespace

Result<std::string> BeginSession(sqlite::Database& database, UserId user, WallTime now) {
  FIELDCOST_CHECK(database.InTransaction());
  std::string id = HexEncode(crypto::RandomBytes(kIdBytes));
  FIELDCOST_TRY(
      database.Prepare("INSERT INTO session (hash, user, created, used) VALUES (?, ?, ?, ?)")
          .Blob(crypto::Sha256(id))
          .Int(user.value())
          .Int(MicrosOf(now))
          .Int(MicrosOf(now))
          .Run());
  FIELDCOST_TRY(database
                    .Prepare("DELETE FROM session WHERE hash IN (SELECT hash FROM session WHERE "
                             "user = ? ORDER BY created DESC, hash LIMIT -1 OFFSET ?)")
                    .Int(user.value())
                    .Int(kMaxSessionsOfUser)
                    .Run());
  return id;
}

Result<std::optional<Session>> FindSession(sqlite::Database& database,
                                           std::string_view untrusted_id, WallTime now) {
  if (!IsId(untrusted_id)) return std::optional<Session>();
  sqlite::Statement statement = database.Prepare(
      "SELECT user.id, user.name, session.created, session.used FROM session JOIN user ON user.id "
      "= session.user WHERE session.hash = ?");
  statement.Blob(crypto::Sha256(untrusted_id));
  FIELDCOST_ASSIGN(const bool found, statement.Step());
  if (!found) return std::optional<Session>();
  const WallTime created = TimeOfMicros(statement.ColumnInt(2));
  const WallTime used = TimeOfMicros(statement.ColumnInt(3));
  if (now - created >= kSessionLife || now - used >= kSessionIdle) return std::optional<Session>();
  return std::optional<Session>(Session{.id = std::string(untrusted_id),
                                        .user = UserId(statement.ColumnInt(0)),
                                        .user_name = statement.ColumnText(1),
                                        .is_to_be_touched = now - used >= kTouchInterval});
}

Status TouchSession(sqlite::Database& database, const std::string& id, WallTime now) {
  return database.Prepare("UPDATE session SET used = ? WHERE hash = ?")
      .Int(MicrosOf(now))
      .Blob(crypto::Sha256(id))
      .Run();
}

Status EndSession(sqlite::Database& database, std::string_view untrusted_id) {
  return database.Prepare("DELETE FROM session WHERE hash = ?")
      .Blob(crypto::Sha256(untrusted_id))
      .Run();
}

Status ForgetOldSessions(sqlite::Database& database, WallTime now) {
  return database.Prepare("DELETE FROM session WHERE created <= ? OR used <= ?")
      .Int(MicrosOf(now - kSessionLife))
      .Int(MicrosOf(now - kSessionIdle))
      .Run();
}

std::string FormToken(std::string_view session_id) {
  return HexEncode(crypto::HmacSha256(session_id, "fieldcost probe server: form"));
}

bool IsFormToken(std::string_view session_id, std::string_view untrusted_token) {
  const std::string expected = FormToken(session_id);
  if (untrusted_token.size() != expected.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    difference |= static_cast<unsigned>(expected[i] ^ untrusted_token[i]);
  }
  return difference == 0;
}

}  // namespace fieldcost::probe_server
