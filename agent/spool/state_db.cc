#include "agent/spool/state_db.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "agent/spool/state_schema.h"
#include "common/base/clock.h"
#include "common/wire/epoch.h"

namespace fieldcost::spool {
namespace {

// The key of what an agent contributes to once in a quarter: that of its first week.
LocalKey ContributionOf(LocalKey key) {
  key.week -= key.week % wire::kWeeksPerEpoch;
  return key;
}

constexpr std::uint64_t kMaxModuleVersions = 4096;
constexpr std::uint64_t kMaxNumber = std::numeric_limits<std::int64_t>::max();

constexpr std::string_view kAskSchemaVersion = "PRAGMA user_version";

// REQUIRES: in a transaction.
Status CreateTables(sqlite::Database& database) {
  FIELDCOST_TRY(database.Execute(kStateSchema));
  return database.Execute(fmt::format("PRAGMA user_version = {}", kStateSchemaVersion).c_str());
}

// `histogram` and what a row of that key holds already, as it is stored. `old` selects that row.
Result<std::string> SumWithOld(sqlite::Statement& old, const std::string& key,
                               stats::CostHistogram histogram) {
  FIELDCOST_ASSIGN(const bool found, old.Text(key).Step());
  if (found) {
    FIELDCOST_ASSIGN(const stats::CostHistogram before, DecodeHistogram(old.ColumnText(0)));
    histogram.Merge(before);
  }
  return EncodeHistogram(histogram);
}

}  // namespace

Result<StateDb> StateDb::Open(const std::filesystem::path& path) {
  FIELDCOST_ASSIGN(sqlite::Database opened,
                   sqlite::Database::Open(path, sqlite::Database::Access::kCreate));
  // Transactions keep a pointer: the connection must stay where it is.
  auto database = std::make_unique<sqlite::Database>(std::move(opened));
  FIELDCOST_TRY(database->UseWriteAheadLog());
  FIELDCOST_TRY(
      database->Execute("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; "
                        "PRAGMA secure_delete = ON"));
  FIELDCOST_ASSIGN(std::uint64_t version, database->QueryInt(kAskSchemaVersion));
  if (version == 0) {  // a new file
    FIELDCOST_ASSIGN(sqlite::Transaction transaction, sqlite::Transaction::Begin(*database));
    FIELDCOST_ASSIGN(version,
                     database->QueryInt(kAskSchemaVersion));  // another process may have been first
    if (version == 0) {
      FIELDCOST_TRY(CreateTables(*database));
      version = kStateSchemaVersion;
    }
    FIELDCOST_TRY(transaction.Commit());
  }
  if (version != kStateSchemaVersion) {
    return Fail(ErrorCode::kUnsupported, "{} has schema version {}; this program knows {}",
                path.string(), version, kStateSchemaVersion);
  }
  return StateDb(std::move(database));
}

Result<std::uint64_t> StateDb::Get(std::string_view name, std::uint64_t fallback) {
  sqlite::Statement statement = database_->Prepare("SELECT value FROM number WHERE name = ?");
  FIELDCOST_ASSIGN(const bool found, statement.Text(name).Step());
  return found ? statement.ColumnInt(0) : fallback;
}

Status StateDb::Set(std::string_view name, std::uint64_t value) {
  return database_->Prepare("INSERT OR REPLACE INTO number VALUES (?, ?)")
      .Text(name)
      .Int(value)
      .Run();
}

Status StateDb::Add(std::string_view name, std::uint64_t amount) {
  return database_
      ->Prepare(
          "INSERT INTO number VALUES (?1, ?2) "
          "ON CONFLICT (name) DO UPDATE SET value = min(value, ?3 - ?2) + ?2")
      .Text(name)
      .Int(std::min(amount, kMaxNumber))
      .Int(kMaxNumber)
      .Run();
}

Result<std::string> StateDb::GetText(std::string_view name) {
  sqlite::Statement statement = database_->Prepare("SELECT value FROM note WHERE name = ?");
  FIELDCOST_ASSIGN(const bool found, statement.Text(name).Step());
  return found ? statement.ColumnText(0) : std::string();
}

Status StateDb::SetText(std::string_view name, std::string_view value) {
  return database_->Prepare("INSERT OR REPLACE INTO note VALUES (?, ?)")
      .Text(name)
      .Text(value)
      .Run();
}

Result<RunSnapshot> StateDb::FindSnapshot(const RunIdentity& run) {
  RunSnapshot snapshot;
  sqlite::Statement head = database_->Prepare(
      "SELECT lost_calls, timed_calls, untimed_calls, dropped_picks, refused_cells, looked_second "
      "FROM run "
      "WHERE name = ? AND inode = ? AND start_unix_ns = ?");
  FIELDCOST_ASSIGN(const bool found,
                   head.Text(run.name).Int(run.inode).Int(run.start_unix_ns).Step());
  if (!found) return snapshot;
  snapshot.numbers = {.lost_calls = head.ColumnInt(0),
                      .timed_calls = head.ColumnInt(1),
                      .untimed_calls = head.ColumnInt(2),
                      .dropped_picks = head.ColumnInt(3),
                      .refused_cells = head.ColumnInt(4)};
  snapshot.is_known = true;
  snapshot.looked_second = head.ColumnInt(5);
  sqlite::Statement totals =
      database_->Prepare("SELECT pick, metric, histogram FROM run_total WHERE name = ?");
  totals.Text(run.name);
  for (;;) {
    FIELDCOST_ASSIGN(const bool more, totals.Step());
    if (!more) return snapshot;
    FIELDCOST_ASSIGN(const stats::CostHistogram histogram, DecodeHistogram(totals.ColumnText(2)));
    snapshot.totals[{static_cast<std::uint32_t>(totals.ColumnInt(0)),
                     static_cast<stats::Metric>(totals.ColumnInt(1))}] = histogram;
  }
}

Status StateDb::SaveSnapshot(const RunIdentity& run, const RunSnapshot& changes) {
  FIELDCOST_TRY(
      database_->Prepare("DELETE FROM run WHERE name = ? AND (inode != ? OR start_unix_ns != ?)")
          .Text(run.name)
          .Int(run.inode)
          .Int(run.start_unix_ns)
          .Run());
  FIELDCOST_TRY(database_
                    ->Prepare("INSERT INTO run VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) "
                              "ON CONFLICT (name) DO UPDATE SET lost_calls = ?4, "
                              "timed_calls = ?5, untimed_calls = ?6, dropped_picks = ?7, "
                              "refused_cells = ?8, looked_second = ?9")
                    .Text(run.name)
                    .Int(run.inode)
                    .Int(run.start_unix_ns)
                    .Int(changes.numbers.lost_calls)
                    .Int(changes.numbers.timed_calls)
                    .Int(changes.numbers.untimed_calls)
                    .Int(changes.numbers.dropped_picks)
                    .Int(changes.numbers.refused_cells)
                    .Int(changes.looked_second)
                    .Run());
  for (const auto& [cell, histogram] : changes.totals) {
    FIELDCOST_TRY(database_->Prepare("INSERT OR REPLACE INTO run_total VALUES (?, ?, ?, ?)")
                      .Text(run.name)
                      .Int(cell.first)
                      .Int(static_cast<std::uint64_t>(cell.second))
                      .Blob(EncodeHistogram(histogram))
                      .Run());
  }
  return {};
}

Status StateDb::RemoveSnapshot(const RunIdentity& run) {
  return database_->Prepare("DELETE FROM run WHERE name = ? AND inode = ? AND start_unix_ns = ?")
      .Text(run.name)
      .Int(run.inode)
      .Int(run.start_unix_ns)
      .Run();
}

Result<std::vector<RunIdentity>> StateDb::Snapshots() {
  std::vector<RunIdentity> runs;
  sqlite::Statement statement = database_->Prepare("SELECT name, inode, start_unix_ns FROM run");
  for (;;) {
    FIELDCOST_ASSIGN(const bool more, statement.Step());
    if (!more) return runs;
    runs.push_back({.name = statement.ColumnText(0),
                    .inode = statement.ColumnInt(1),
                    .start_unix_ns = statement.ColumnInt(2)});
  }
}

Status StateDb::AddLocal(const LocalKey& key, const stats::CostHistogram& histogram,
                         bool is_private) {
  const std::string text = EncodeKey(key);
  sqlite::Statement old = database_->Prepare("SELECT histogram FROM local_row WHERE key = ?");
  FIELDCOST_ASSIGN(const std::string sum, SumWithOld(old, text, histogram));
  return database_
      ->Prepare(
          "INSERT INTO local_row VALUES (?1, ?2, ?3) ON CONFLICT (key) DO UPDATE "
          "SET histogram = ?3, is_private = min(is_private, ?2)")
      .Text(text)
      .Int(is_private ? 1 : 0)
      .Blob(sum)
      .Run();
}

Result<std::vector<std::pair<LocalKey, stats::CostHistogram>>> StateDb::LocalRows() {
  std::vector<std::pair<LocalKey, stats::CostHistogram>> rows;
  sqlite::Statement statement = database_->Prepare("SELECT key, histogram FROM local_row");
  for (;;) {
    FIELDCOST_ASSIGN(const bool more, statement.Step());
    if (!more) return rows;
    FIELDCOST_ASSIGN(LocalKey key, DecodeKey(statement.ColumnText(0)));
    FIELDCOST_ASSIGN(stats::CostHistogram histogram, DecodeHistogram(statement.ColumnText(1)));
    rows.emplace_back(std::move(key), histogram);
  }
}

Status StateDb::AddRecent(const RecentKey& when, const LocalKey& key,
                          const stats::CostHistogram& histogram) {
  const std::string text = EncodeKey(key);
  sqlite::Statement old = database_->Prepare(
      "SELECT histogram FROM recent_row WHERE second = ? AND request = ? AND key = ?");
  old.Int(when.second).Int(when.request);
  FIELDCOST_ASSIGN(const std::string sum, SumWithOld(old, text, histogram));
  return database_
      ->Prepare(
          "INSERT INTO recent_row VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (second, request, key) "
          "DO UPDATE SET histogram = ?5, is_fielded = max(is_fielded, ?4)")
      .Int(when.second)
      .Int(when.request)
      .Text(text)
      .Int(when.is_fielded ? 1 : 0)
      .Blob(sum)
      .Run();
}

Result<RecentRows> StateDb::FindRecent(const RecentFilter& filter) {
  RecentRows found;
  sqlite::Statement statement =
      filter.request != 0
          ? database_->Prepare(
                "SELECT key, histogram, is_fielded FROM recent_row WHERE request = ?1 AND "
                "request != 0")
          : database_->Prepare(
                "SELECT key, histogram, is_fielded FROM recent_row WHERE second >= ?1 AND "
                "second < ?2");
  if (filter.request != 0) {
    statement.Int(filter.request);
  } else {
    statement.Int(std::min(filter.from_second, kMaxNumber))
        .Int(std::min(filter.before_second, kMaxNumber));
  }
  for (;;) {
    FIELDCOST_ASSIGN(const bool more, statement.Step());
    if (!more) return found;
    FIELDCOST_ASSIGN(LocalKey key, DecodeKey(statement.ColumnText(0)));
    FIELDCOST_ASSIGN(const stats::CostHistogram histogram,
                     DecodeHistogram(statement.ColumnText(1)));
    found.any_fielded = found.any_fielded || statement.ColumnInt(2) != 0;
    found.sums[std::move(key)].Merge(histogram);
  }
}

Status StateDb::PruneRecent() {
  sqlite::Statement statement =
      database_->Prepare("SELECT second FROM recent_row ORDER BY second DESC LIMIT 1 OFFSET ?");
  FIELDCOST_ASSIGN(const bool too_many, statement.Int(kMaxRecentRows).Step());
  if (!too_many) return {};
  const std::uint64_t last = statement.ColumnInt(0);
  FIELDCOST_TRY(database_->Prepare("DELETE FROM recent_row WHERE second <= ?").Int(last).Run());
  return Set(kRecentSinceNumber, last + 1);
}

Status StateDb::ForgetLocal() {
  return database_->Execute("DELETE FROM local_row; DELETE FROM recent_row");
}

Result<std::uint64_t> StateDb::CountPrivateRows() {
  sqlite::Statement statement =
      database_->Prepare("SELECT count(*) FROM local_row WHERE is_private");
  FIELDCOST_TRY(statement.Step());
  return statement.ColumnInt(0);
}

Result<std::set<stats::ApiKey>> StateDb::PrivateApis() {
  std::map<stats::ApiKey, bool> apis;
  sqlite::Statement statement = database_->Prepare("SELECT key, is_private FROM local_row");
  for (;;) {
    FIELDCOST_ASSIGN(const bool more, statement.Step());
    if (!more) break;
    FIELDCOST_ASSIGN(LocalKey key, DecodeKey(statement.ColumnText(0)));
    bool& is_private = apis.try_emplace(std::move(key.api), true).first->second;
    is_private = is_private && statement.ColumnInt(1) != 0;
  }
  std::set<stats::ApiKey> found;
  for (const auto& [api, is_private] : apis) {
    if (is_private) found.insert(api);
  }
  return found;
}

Status StateDb::AddPending(const LocalKey& key, const stats::CostHistogram& histogram,
                           WallTime now) {
  const std::string text = EncodeKey(key);
  sqlite::Statement old = database_->Prepare("SELECT histogram FROM pending_row WHERE key = ?");
  FIELDCOST_ASSIGN(const std::string sum, SumWithOld(old, text, histogram));
  return database_
      ->Prepare(
          "INSERT INTO pending_row VALUES (?1, ?2, ?3) "
          "ON CONFLICT (key) DO UPDATE SET histogram = ?3")
      .Text(text)
      .Int(MicrosOf(now))
      .Blob(sum)
      .Run();
}

Result<std::vector<wire::BatchRow>> StateDb::PendingRows(std::string_view hardware,
                                                         std::size_t limit) {
  std::vector<wire::BatchRow> rows;
  sqlite::Statement statement = database_->Prepare(
      "SELECT p.key, p.histogram, c.key IS NULL FROM pending_row p LEFT JOIN contributed c "
      "ON c.key = substr(p.key, 1, length(p.key) - 6) || "
      "printf('%06d', substr(p.key, -6) - substr(p.key, -6) % ?) AND c.hardware = ? "
      "ORDER BY p.key LIMIT ?");
  statement.Int(wire::kWeeksPerEpoch).Text(hardware).Int(limit);
  LocalKey before;
  for (;;) {
    FIELDCOST_ASSIGN(const bool more, statement.Step());
    if (!more) return rows;
    FIELDCOST_ASSIGN(LocalKey key, DecodeKey(statement.ColumnText(0)));
    FIELDCOST_ASSIGN(stats::CostHistogram histogram, DecodeHistogram(statement.ColumnText(1)));
    // A later week of the quarter comes after the first in the order of keys.
    const LocalKey contribution = ContributionOf(key);
    const bool follows = contribution == before;
    before = contribution;
    rows.push_back({.api = std::move(key.api),
                    .metric = key.metric,
                    .week = key.week,
                    .first_contribution = statement.ColumnInt(2) != 0 && !follows,
                    .histogram = histogram});
  }
}

Result<std::optional<WallTime>> StateDb::OldestPending() {
  sqlite::Statement statement = database_->Prepare("SELECT count(*), min(since) FROM pending_row");
  FIELDCOST_TRY(statement.Step());
  if (statement.ColumnInt(0) == 0) return std::optional<WallTime>();
  return std::optional<WallTime>(TimeOfMicros(statement.ColumnInt(1)));
}

Status StateDb::RemovePending(const LocalKey& key) {
  return database_->Prepare("DELETE FROM pending_row WHERE key = ?").Text(EncodeKey(key)).Run();
}

Status StateDb::AddContributed(const LocalKey& key, std::string_view hardware,
                               std::uint64_t batch) {
  return database_->Prepare("INSERT OR IGNORE INTO contributed VALUES (?, ?, ?, ?)")
      .Text(hardware)
      .Text(EncodeKey(ContributionOf(key)))
      .Int(key.week)
      .Int(batch)
      .Run();
}

Status StateDb::DropContributed(const LocalKey& key, std::string_view hardware) {
  return database_->Prepare("DELETE FROM contributed WHERE hardware = ? AND key = ?")
      .Text(hardware)
      .Text(EncodeKey(ContributionOf(key)))
      .Run();
}

Status StateDb::PruneContributed(std::uint32_t oldest_week, std::uint64_t oldest_batch) {
  return database_->Prepare("DELETE FROM contributed WHERE week < ? AND batch < ?")
      .Int(oldest_week)
      .Int(oldest_batch)
      .Run();
}

Result<std::optional<std::string>> StateDb::FindModuleVersion(const ModuleFile& file) {
  sqlite::Statement statement = database_->Prepare(
      "SELECT version FROM module_version WHERE path = ? AND inode = ? AND modified_ns = ?");
  FIELDCOST_ASSIGN(const bool found,
                   statement.Text(file.path).Int(file.inode).Int(file.modified_ns).Step());
  if (!found) return std::optional<std::string>();
  return std::optional<std::string>(statement.ColumnText(0));
}

Status StateDb::SaveModuleVersion(const ModuleFile& file, std::string_view version) {
  FIELDCOST_TRY(database_
                    ->Prepare("DELETE FROM module_version WHERE "
                              "(SELECT count(*) FROM module_version) >= ?")
                    .Int(kMaxModuleVersions)
                    .Run());
  return database_->Prepare("INSERT OR REPLACE INTO module_version VALUES (?, ?, ?, ?)")
      .Text(file.path)
      .Int(file.inode)
      .Int(file.modified_ns)
      .Text(version)
      .Run();
}

}  // namespace fieldcost::spool
