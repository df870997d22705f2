#include "aggregator/probe_server/accounts/users.h"

#include "common/base/check.h"
#include "common/base/clock.h"
#include "common/base/text.h"

namespace fieldcost::probe_server {
namespace {

// A user's number is never reused, because events refer to it.
constexpr char kTables[] = R"(
CREATE TABLE user (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL UNIQUE,
  password TEXT NOT NULL,
  created INTEGER NOT NULL);
CREATE TABLE session (
  hash BLOB PRIMARY KEY,
  user INTEGER NOT NULL,
  created INTEGER NOT NULL,
  used INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX session_user ON session (user);
CREATE TABLE device (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user INTEGER NOT NULL,
  name TEXT NOT NULL,
  token BLOB NOT NULL UNIQUE,
  created INTEGER NOT NULL,
  revoked INTEGER NOT NULL DEFAULT 0);
CREATE INDEX device_user ON device (user);
CREATE TABLE guesser (
  key BLOB PRIMARY KEY,
  failures INTEGER NOT NULL,
  last INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX guesser_last ON guesser (last);
CREATE TABLE known_network (
  user INTEGER NOT NULL,
  network TEXT NOT NULL,
  used INTEGER NOT NULL,
  PRIMARY KEY (user, network)) WITHOUT ROWID;
)";

User UserOf(const sqlite::Statement& statement) {
  return {.id = UserId(statement.ColumnInt(0)),
          .name = statement.ColumnText(1),
          .password_hash = statement.ColumnText(2),
          .created = TimeOfMicros(statement.ColumnInt(3))};
}

}  // namespace

Status CreateAccountTables(sqlite::Database& database) { return database.Execute(kTables); }

Result<UserId> AddUser(sqlite::Database& database, std::string_view untrusted_name,
                       std::string_view password_hash, WallTime now) {
  FIELDCOST_TRY(CheckName("user", untrusted_name));
  FIELDCOST_TRY(database
                    .Prepare("INSERT OR IGNORE INTO user (name, password, created) "
                             "VALUES (?, ?, ?)")
                    .Text(untrusted_name)
                    .Text(password_hash)
                    .Int(MicrosOf(now))
                    .Run());
  if (database.changes() == 0) {
    return Fail(ErrorCode::kAlreadyExists, "add user '{}': a user of that name exists",
                EscapeControl(untrusted_name));
  }
  FIELDCOST_ASSIGN(const std::uint64_t id, database.QueryInt("SELECT last_insert_rowid()"));
  return UserId(id);
}

Result<std::optional<User>> FindUser(sqlite::Database& database, std::string_view untrusted_name) {
  sqlite::Statement statement =
      database.Prepare("SELECT id, name, password, created FROM user WHERE name = ?");
  statement.Text(untrusted_name);
  FIELDCOST_ASSIGN(const bool found, statement.Step());
  if (!found) return std::optional<User>();
  return std::optional<User>(UserOf(statement));
}

Result<std::vector<User>> ListUsers(sqlite::Database& database) {
  std::vector<User> users;
  sqlite::Statement statement =
      database.Prepare("SELECT id, name, password, created FROM user ORDER BY name");
  for (;;) {
    FIELDCOST_ASSIGN(const bool more, statement.Step());
    if (!more) return users;
    users.push_back(UserOf(statement));
  }
}

Status SetPassword(sqlite::Database& database, UserId user, std::string_view password_hash,
                   const PasswordChange& change) {
  FIELDCOST_TRY(database.Prepare("UPDATE user SET password = ? WHERE id = ?")
                    .Text(password_hash)
                    .Int(user.value())
                    .Run());
  if (database.changes() == 0) {
    return Fail(ErrorCode::kNotFound, "change a password: there is no user {}", user.value());
  }
  if (change.ends_devices) {
    FIELDCOST_TRY(database.Prepare("UPDATE device SET revoked = 1 WHERE user = ? AND NOT revoked")
                      .Int(user.value())
                      .Run());
  }
  if (!change.ends_sessions) return {};
  return database.Prepare("DELETE FROM session WHERE user = ?").Int(user.value()).Run();
}

Status RemoveUser(sqlite::Database& database, UserId user) {
  FIELDCOST_CHECK(database.InTransaction());
  for (const char* sql :
       {"DELETE FROM session WHERE user = ?", "DELETE FROM known_network WHERE user = ?",
        "UPDATE device SET revoked = 1 WHERE user = ?", "DELETE FROM user WHERE id = ?"}) {
    FIELDCOST_TRY(database.Prepare(sql).Int(user.value()).Run());
  }
  return {};
}

}  // namespace fieldcost::probe_server
