#include "aggregator/probes/data/data.h"

#include "aggregator/probes/accounts/users.h"

namespace fieldcost::probe_server {
namespace {

constexpr char kTables[] = R"(
CREATE TABLE ledger (
  device INTEGER NOT NULL,
  sequence INTEGER NOT NULL,
  hash BLOB NOT NULL,
  PRIMARY KEY (device, sequence)) WITHOUT ROWID;
CREATE TABLE usage (
  user INTEGER NOT NULL,
  day INTEGER NOT NULL,
  steps INTEGER NOT NULL,
  PRIMARY KEY (user, day)) WITHOUT ROWID;
CREATE TABLE action (
  id INTEGER PRIMARY KEY,
  time INTEGER NOT NULL,
  user INTEGER NOT NULL,
  what TEXT NOT NULL,
  event TEXT NOT NULL,
  reason TEXT NOT NULL);
CREATE TABLE server (version INTEGER NOT NULL);
)";

Status CreateTables(sqlite::Database& database) {
  FIELDCOST_ASSIGN(sqlite::Transaction transaction, sqlite::Transaction::Begin(database));
  FIELDCOST_ASSIGN(
      const std::uint64_t there,
      database.QueryInt("SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = "
                        "'server'"));
  if (there == 0) {
    FIELDCOST_TRY(CreateAccountTables(database));
    FIELDCOST_TRY(database.Execute(kTables));
    FIELDCOST_TRY(
        database.Prepare("INSERT INTO server (version) VALUES (?)").Int(kSchemaVersion).Run());
  }
  return transaction.Commit();
}

Status CheckVersion(sqlite::Database& database, const std::filesystem::path& file) {
  const auto version = database.QueryInt("SELECT version FROM server");
  if (!version && version.error().code == ErrorCode::kInternal) {
    return Fail(ErrorCode::kUnsupported, "use {}: it is not a database of fieldcost-probe-server",
                file.string());
  }
  if (!version) return version.error();
  if (*version == kSchemaVersion) return {};
  return Fail(ErrorCode::kUnsupported,
              "use {}: it has version {}, but this program knows {}; use the program that made it",
              file.string(), *version, kSchemaVersion);
}

}  // namespace

Result<std::unique_ptr<Data>> Data::Open(const std::filesystem::path& file,
                                         sqlite::Database::Access access) {
  FIELDCOST_ASSIGN(sqlite::Database database, sqlite::Database::Open(file, access));
  if (access == sqlite::Database::Access::kCreate) {
    FIELDCOST_TRY(database.UseWriteAheadLog());
    FIELDCOST_TRY(CreateTables(database));
  }
  FIELDCOST_TRY(CheckVersion(database, file));
  FIELDCOST_TRY(database.Execute("PRAGMA synchronous = FULL; PRAGMA trusted_schema = OFF"));
  std::unique_ptr<Data> data(new Data(std::move(database)));
  FIELDCOST_ASSIGN(const probe::EventStore events, probe::EventStore::Create(data->database_));
  data->events_ = std::make_unique<probe::EventStore>(events);
  return data;
}

}  // namespace fieldcost::probe_server
