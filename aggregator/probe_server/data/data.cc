#include "aggregator/probe_server/data/data.h"

#include "aggregator/probe_server/accounts/users.h"

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
CREATE TABLE audit (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  time INTEGER NOT NULL,
  what TEXT NOT NULL,
  account TEXT NOT NULL,
  address TEXT NOT NULL,
  object TEXT NOT NULL);
CREATE TABLE server (version INTEGER NOT NULL, changes INTEGER NOT NULL DEFAULT 0);
)";

constexpr char kSelectChanges[] = "SELECT changes FROM server";

constexpr char kWhatToDo[] =
    ". Nothing was changed. Copy the directory, then restore a backup, or accept the loss with "
    "fieldcost-probe-server recover";

bool IsEmpty(const std::filesystem::path& file) {
  std::error_code error;
  const auto bytes = std::filesystem::file_size(file, error);
  return error || bytes == 0;
}

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

Status CheckAgainstMark(const std::filesystem::path& file) {
  FIELDCOST_ASSIGN(const std::optional<std::uint64_t> mark, Mark::Read(file));
  if (IsEmpty(file)) {
    if (mark.value_or(0) == 0 && IsEmpty(LogFileOf(file))) return {};
    return Fail(ErrorCode::kCorrupt,
                "use {}: it is missing or empty, but other files of it exist{}", file.string(),
                kWhatToDo);
  }
  if (!mark) {
    return Fail(ErrorCode::kCorrupt, "use {}: {} is missing, which records what was acknowledged{}",
                file.string(), MarkFileOf(file).string(), kWhatToDo);
  }
  FIELDCOST_ASSIGN(sqlite::Database database,
                   sqlite::Database::Open(file, sqlite::Database::Access::kInspect,
                                          sqlite::Database::Pages::kChecked));
  if (*mark == 0) return {};  // the database may still be empty
  FIELDCOST_TRY(CheckVersion(database, file));
  FIELDCOST_ASSIGN(const std::uint64_t changes, database.QueryInt(kSelectChanges));
  if (changes >= *mark) return {};
  return Fail(ErrorCode::kCorrupt,
              "use {}: it has {} changes, but {} were acknowledged: the last ones are damaged{}",
              file.string(), changes, *mark, kWhatToDo);
}

Result<std::unique_ptr<Data>> Data::Open(const std::filesystem::path& file,
                                         sqlite::Database::Access access) {
  const bool creates = access == sqlite::Database::Access::kCreate;
  std::optional<OpenLock> lock;
  if (creates || (access == sqlite::Database::Access::kWrite && !IsEmpty(file))) {
    FIELDCOST_ASSIGN(lock, OpenLock::Take(file));
    if (lock->is_alone()) FIELDCOST_TRY(CheckAgainstMark(file));
  }
  std::optional<Mark> mark;
  // Opened before the database, so that a database without a mark is never mistaken for a new one.
  if (lock) {
    FIELDCOST_ASSIGN(mark, Mark::Open(file));
  }
  FIELDCOST_ASSIGN(sqlite::Database database,
                   sqlite::Database::Open(file, access, sqlite::Database::Pages::kChecked));
  if (creates) {
    FIELDCOST_TRY(database.UseWriteAheadLog());
    FIELDCOST_TRY(CreateTables(database));
  }
  FIELDCOST_TRY(CheckVersion(database, file));
  FIELDCOST_TRY(database.Execute("PRAGMA synchronous = FULL; PRAGMA trusted_schema = OFF"));
  std::unique_ptr<Data> data(new Data(std::move(database)));
  FIELDCOST_ASSIGN(const probe::EventStore events, probe::EventStore::Create(data->database_));
  data->events_ = std::make_unique<probe::EventStore>(events);
  if (lock && lock->is_alone()) FIELDCOST_TRY(lock->Share());
  data->lock_ = std::move(lock);
  data->mark_ = std::move(mark);
  return data;
}

Status Data::Commit(sqlite::Transaction& transaction) {
  FIELDCOST_TRY(database_.Execute("UPDATE server SET changes = changes + 1"));
  FIELDCOST_ASSIGN(const std::uint64_t changes, Changes());
  FIELDCOST_TRY(transaction.Commit());
  return mark_ ? mark_->Write(changes) : Status();
}

Status Data::Change(const std::function<Status()>& work) {
  FIELDCOST_ASSIGN(sqlite::Transaction transaction, sqlite::Transaction::Begin(database_));
  FIELDCOST_TRY(work());
  return Commit(transaction);
}

Result<std::uint64_t> Data::Changes() { return database_.QueryInt(kSelectChanges); }

}  // namespace fieldcost::probe_server
