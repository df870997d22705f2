#include "agent/daemon/state_db.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "agent/daemon/state_schema.h"
#include "common/base/text.h"
#include "common/crypto/sha256.h"

namespace fieldcost::daemon {
namespace {

constexpr std::uint64_t kMaxModuleVersions = 4096;
// Sent batches are remembered for the user to look up; refused ones with their bytes.
constexpr std::uint64_t kMaxLogEntries = 4096;
constexpr std::uint64_t kMaxQuarantinedBatches = 256;
constexpr std::uint64_t kMaxNumber = std::numeric_limits<std::int64_t>::max();

std::uint64_t Micros(WallTime time) {
  return static_cast<std::uint64_t>(time.time_since_epoch().count());
}

WallTime TimeOf(std::uint64_t micros) {
  return WallTime(std::chrono::microseconds(static_cast<std::int64_t>(micros)));
}

std::uint64_t Number(SpoolState state) { return static_cast<std::uint64_t>(state); }

constexpr std::string_view kAskSchemaVersion = "PRAGMA user_version";

std::string Hex(std::string_view bytes) {
  std::string copy(bytes);
  std::vector<std::uint8_t> raw(copy.begin(), copy.end());
  return HexEncode(raw);
}

}  // namespace

Result<StateDb> StateDb::Open(const std::filesystem::path& path) {
  FIELDCOST_ASSIGN(sqlite::Database opened,
                   sqlite::Database::Open(path, sqlite::Database::Access::kCreate));
  // Transactions keep a pointer: the connection must stay where it is.
  auto database = std::make_unique<sqlite::Database>(std::move(opened));
  FIELDCOST_TRY(database->UseWriteAheadLog());
  FIELDCOST_TRY(database->Execute("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON"));
  FIELDCOST_ASSIGN(std::uint64_t version, database->QueryInt(kAskSchemaVersion));
  if (version < kStateSchemaVersion) {
    FIELDCOST_ASSIGN(sqlite::Transaction transaction, sqlite::Transaction::Begin(*database));
    FIELDCOST_ASSIGN(version,
                     database->QueryInt(kAskSchemaVersion));  // another process may have been first
    if (version < kStateSchemaVersion) {
      FIELDCOST_TRY(database->Execute(version == 0 ? kStateSchema : kStateUpgrade2));
      version = kStateSchemaVersion;
      FIELDCOST_TRY(database->Execute(fmt::format("PRAGMA user_version = {}", version).c_str()));
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

Result<RunSnapshot> StateDb::FindSnapshot(const RunIdentity& run) {
  RunSnapshot snapshot;
  sqlite::Statement head = database_->Prepare(
      "SELECT lost_calls, timed_calls, untimed_calls, dropped_picks, refused_cells FROM run "
      "WHERE name = ? AND inode = ? AND start_unix_ns = ?");
  FIELDCOST_ASSIGN(const bool found,
                   head.Text(run.name).Int(run.inode).Int(run.start_unix_ns).Step());
  if (!found) return snapshot;
  snapshot.numbers = {.lost_calls = head.ColumnInt(0),
                      .timed_calls = head.ColumnInt(1),
                      .untimed_calls = head.ColumnInt(2),
                      .dropped_picks = head.ColumnInt(3),
                      .refused_cells = head.ColumnInt(4)};
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
                    ->Prepare("INSERT INTO run VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) "
                              "ON CONFLICT (name) DO UPDATE SET lost_calls = ?4, "
                              "timed_calls = ?5, untimed_calls = ?6, dropped_picks = ?7, "
                              "refused_cells = ?8")
                    .Text(run.name)
                    .Int(run.inode)
                    .Int(run.start_unix_ns)
                    .Int(changes.numbers.lost_calls)
                    .Int(changes.numbers.timed_calls)
                    .Int(changes.numbers.untimed_calls)
                    .Int(changes.numbers.dropped_picks)
                    .Int(changes.numbers.refused_cells)
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
  stats::CostHistogram sum = histogram;
  sqlite::Statement old = database_->Prepare("SELECT histogram FROM local_row WHERE key = ?");
  FIELDCOST_ASSIGN(const bool found, old.Text(text).Step());
  if (found) {
    FIELDCOST_ASSIGN(const stats::CostHistogram before, DecodeHistogram(old.ColumnText(0)));
    sum.Merge(before);
  }
  return database_
      ->Prepare(
          "INSERT INTO local_row VALUES (?1, ?2, ?3) ON CONFLICT (key) DO UPDATE "
          "SET histogram = ?3, is_private = max(is_private, ?2)")
      .Text(text)
      .Int(is_private ? 1 : 0)
      .Blob(EncodeHistogram(sum))
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

Result<std::uint64_t> StateDb::CountPrivateRows() {
  sqlite::Statement statement =
      database_->Prepare("SELECT count(*) FROM local_row WHERE is_private");
  FIELDCOST_TRY(statement.Step());
  return statement.ColumnInt(0);
}

Status StateDb::AddPending(const LocalKey& key, const stats::CostHistogram& histogram,
                           WallTime now) {
  const std::string text = EncodeKey(key);
  stats::CostHistogram sum = histogram;
  sqlite::Statement old = database_->Prepare("SELECT histogram FROM pending_row WHERE key = ?");
  FIELDCOST_ASSIGN(const bool found, old.Text(text).Step());
  if (found) {
    FIELDCOST_ASSIGN(const stats::CostHistogram before, DecodeHistogram(old.ColumnText(0)));
    sum.Merge(before);
  }
  return database_
      ->Prepare(
          "INSERT INTO pending_row VALUES (?1, ?2, ?3) "
          "ON CONFLICT (key) DO UPDATE SET histogram = ?3")
      .Text(text)
      .Int(Micros(now))
      .Blob(EncodeHistogram(sum))
      .Run();
}

Result<std::vector<PendingRow>> StateDb::PendingRows(std::string_view hardware, std::size_t limit) {
  std::vector<PendingRow> rows;
  sqlite::Statement statement = database_->Prepare(
      "SELECT p.key, p.histogram, c.key IS NULL FROM pending_row p LEFT JOIN contributed c "
      "ON c.key = p.key AND c.hardware = ? ORDER BY p.key LIMIT ?");
  statement.Text(hardware).Int(limit);
  for (;;) {
    FIELDCOST_ASSIGN(const bool more, statement.Step());
    if (!more) return rows;
    FIELDCOST_ASSIGN(LocalKey key, DecodeKey(statement.ColumnText(0)));
    FIELDCOST_ASSIGN(stats::CostHistogram histogram, DecodeHistogram(statement.ColumnText(1)));
    rows.push_back({.key = std::move(key),
                    .histogram = histogram,
                    .first_contribution = statement.ColumnInt(2) != 0});
  }
}

Result<std::optional<WallTime>> StateDb::OldestPending() {
  sqlite::Statement statement = database_->Prepare("SELECT count(*), min(since) FROM pending_row");
  FIELDCOST_TRY(statement.Step());
  if (statement.ColumnInt(0) == 0) return std::optional<WallTime>();
  return std::optional<WallTime>(TimeOf(statement.ColumnInt(1)));
}

Status StateDb::RemovePending(const LocalKey& key) {
  return database_->Prepare("DELETE FROM pending_row WHERE key = ?").Text(EncodeKey(key)).Run();
}

Status StateDb::AddContributed(const LocalKey& key, std::string_view hardware,
                               std::uint64_t sequence) {
  return database_->Prepare("INSERT OR IGNORE INTO contributed VALUES (?, ?, ?, ?)")
      .Text(hardware)
      .Text(EncodeKey(key))
      .Int(key.week)
      .Int(sequence)
      .Run();
}

Status StateDb::PruneContributed(std::uint32_t oldest_week) {
  return database_->Prepare("DELETE FROM contributed WHERE week < ?").Int(oldest_week).Run();
}

Result<std::uint64_t> StateDb::Spool(std::string_view body, std::uint64_t rows, WallTime now) {
  FIELDCOST_ASSIGN(const std::uint64_t sequence, Get(kNextSequenceNumber, 1));
  FIELDCOST_ASSIGN(const std::uint64_t epoch, Get(kEpochNumber, 1));
  FIELDCOST_TRY(database_
                    ->Prepare("INSERT INTO spool "
                              "(sequence, epoch, state, rows, created, size_bytes, sha256, body) "
                              "VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
                    .Int(sequence)
                    .Int(epoch)
                    .Int(Number(SpoolState::kQueued))
                    .Int(rows)
                    .Int(Micros(now))
                    .Int(body.size())
                    .Text(Hex(crypto::Sha256(body)))
                    .Blob(body)
                    .Run());
  FIELDCOST_TRY(Set(kNextSequenceNumber, sequence + 1));
  return sequence;
}

Result<std::optional<SpooledBatch>> StateDb::FirstQueued() {
  sqlite::Statement statement = database_->Prepare(
      "SELECT sequence, epoch, body FROM spool WHERE state = ? ORDER BY sequence LIMIT 1");
  FIELDCOST_ASSIGN(const bool found, statement.Int(Number(SpoolState::kQueued)).Step());
  if (!found) return std::optional<SpooledBatch>();
  return std::optional<SpooledBatch>({.sequence = statement.ColumnInt(0),
                                      .epoch = statement.ColumnInt(1),
                                      .body = statement.ColumnText(2)});
}

Status StateDb::MarkSent(std::uint64_t sequence, WallTime now) {
  FIELDCOST_TRY(database_
                    ->Prepare("UPDATE spool SET state = ?, sent = ?, body = '' "
                              "WHERE sequence = ? AND state = ?")
                    .Int(Number(SpoolState::kSent))
                    .Int(Micros(now))
                    .Int(sequence)
                    .Int(Number(SpoolState::kQueued))
                    .Run());
  return database_->Prepare("DELETE FROM spool WHERE state = ? AND sequence + ? <= ?")
      .Int(Number(SpoolState::kSent))
      .Int(kMaxLogEntries)
      .Int(sequence)
      .Run();
}

Status StateDb::MarkQuarantined(std::uint64_t sequence, std::string_view reason) {
  FIELDCOST_TRY(
      database_->Prepare("UPDATE spool SET state = ?, reason = ? WHERE sequence = ? AND state = ?")
          .Int(Number(SpoolState::kQuarantined))
          .Text(reason)
          .Int(sequence)
          .Int(Number(SpoolState::kQueued))
          .Run());
  FIELDCOST_TRY(
      database_->Prepare("DELETE FROM contributed WHERE sequence = ?").Int(sequence).Run());
  // The newest keep their bytes, the others only their log entry.
  return database_
      ->Prepare(
          "UPDATE spool SET body = '' WHERE state = ?1 AND sequence <= "
          "(SELECT sequence FROM spool WHERE state = ?1 "
          "ORDER BY sequence DESC LIMIT 1 OFFSET ?2)")
      .Int(Number(SpoolState::kQuarantined))
      .Int(kMaxQuarantinedBatches)
      .Run();
}

Result<SpoolTotals> StateDb::Totals() {
  SpoolTotals totals;
  sqlite::Statement statement =
      database_->Prepare("SELECT state, count(*), sum(length(body)) FROM spool GROUP BY state");
  for (;;) {
    FIELDCOST_ASSIGN(const bool more, statement.Step());
    if (!more) return totals;
    const std::uint64_t count = statement.ColumnInt(1);
    switch (static_cast<SpoolState>(statement.ColumnInt(0))) {
      case SpoolState::kQueued:
        totals.queued = count;
        totals.queued_bytes = statement.ColumnInt(2);
        break;
      case SpoolState::kSent:
        totals.sent = count;
        break;
      case SpoolState::kQuarantined:
        totals.quarantined = count;
        break;
      case SpoolState::kWithdrawn:
        totals.withdrawn = count;
        break;
      case SpoolState::kDropped:
        totals.dropped = count;
        break;
    }
  }
}

Status StateDb::DropUnsent() {
  const std::uint64_t queued = Number(SpoolState::kQueued);
  FIELDCOST_TRY(database_->Execute("DELETE FROM pending_row"));
  FIELDCOST_TRY(database_
                    ->Prepare("DELETE FROM contributed WHERE sequence IN "
                              "(SELECT sequence FROM spool WHERE state = ?)")
                    .Int(queued)
                    .Run());
  return database_->Prepare("DELETE FROM spool WHERE state = ?").Int(queued).Run();
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

}  // namespace fieldcost::daemon
