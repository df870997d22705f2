// The tables of events. Times are nanoseconds; ids are 64 bits, stored as SQLite's signed integers.
// `uses` counts the references to a row, which is removed together with the last one.
#include "common/probe/event_store.h"

#include <fmt/format.h>

#include "common/base/text.h"
#include "common/probe/event_sql.h"

namespace fieldcost::probe {
namespace {

constexpr std::uint64_t kSchemaVersion = 1;

constexpr char kSchema[] = R"(
CREATE TABLE event_schema(version INTEGER NOT NULL);
INSERT INTO event_schema VALUES(1);
CREATE TABLE run(
  row INTEGER PRIMARY KEY,
  owner INTEGER NOT NULL,
  id INTEGER NOT NULL,
  session INTEGER NOT NULL,
  program TEXT NOT NULL,
  build TEXT NOT NULL,
  tags TEXT NOT NULL,          -- sorted, with a line feed before and after each
  start_ns INTEGER NOT NULL,
  disk_read_bytes INTEGER NOT NULL,
  lost_hits INTEGER NOT NULL,
  waited_ns INTEGER NOT NULL,  -- for a CPU, of
  observed_ns INTEGER NOT NULL,  -- so many; 0: not measured
  uses INTEGER NOT NULL,       -- events and hits
  UNIQUE(owner, id));
CREATE TABLE site(
  row INTEGER PRIMARY KEY,
  label TEXT NOT NULL,
  function TEXT NOT NULL,
  file TEXT NOT NULL,
  line INTEGER NOT NULL,
  kind INTEGER NOT NULL,       -- SiteKind
  uses INTEGER NOT NULL,       -- hits
  UNIQUE(label, function, file, line, kind));
CREATE TABLE frame(
  row INTEGER PRIMARY KEY,
  function TEXT NOT NULL,
  module TEXT NOT NULL,
  file TEXT NOT NULL,
  line INTEGER NOT NULL,
  uses INTEGER NOT NULL,       -- places in stacks
  UNIQUE(function, module, file, line));
CREATE TABLE stack(
  row INTEGER PRIMARY KEY,
  frames TEXT NOT NULL,        -- rows, innermost first, with commas between; "..." at the end if it is cut
  uses INTEGER NOT NULL,       -- hits
  UNIQUE(frames));
CREATE TABLE event(
  row INTEGER PRIMARY KEY AUTOINCREMENT,
  owner INTEGER NOT NULL,
  id_run INTEGER NOT NULL,
  id_number INTEGER NOT NULL,
  run INTEGER NOT NULL,        -- row: of the run that began it, else of the first that told of it
  label TEXT NOT NULL,         -- empty: it began elsewhere
  begin_ns INTEGER NOT NULL,   -- of one that began elsewhere, the first hit's
  end_ns INTEGER NOT NULL,     -- 0: not over
  flags INTEGER NOT NULL,      -- 1 incomplete, 2 suspended, 4 its beginning is known
  hits INTEGER NOT NULL,
  points_key INTEGER NOT NULL,
  mark INTEGER NOT NULL,       -- Mark
  mark_reason TEXT NOT NULL,
  UNIQUE(owner, id_run, id_number));
CREATE INDEX event_id ON event(id_run, id_number);
CREATE INDEX event_time ON event(begin_ns, row);
CREATE INDEX event_label ON event(label, begin_ns, row);
CREATE TABLE hit(
  event INTEGER NOT NULL,      -- row, as all of these
  ns INTEGER NOT NULL,
  run INTEGER NOT NULL,
  thread INTEGER NOT NULL,
  sequence INTEGER NOT NULL,
  site INTEGER NOT NULL,
  stack INTEGER,
  kind INTEGER NOT NULL,       -- HitKind
  value INTEGER,
  parent INTEGER,
  PRIMARY KEY(event, ns, run, thread, sequence)) WITHOUT ROWID;
)";

}  // namespace

std::string EventKey::Text() const { return fmt::format("{}-{}", owner, id.Hex()); }

std::optional<EventKey> EventKey::Parse(std::string_view untrusted_text) {
  const std::size_t dash = untrusted_text.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto owner = ParseUint64(untrusted_text.substr(0, dash));
  const auto id = EventId::Parse(untrusted_text.substr(dash + 1));
  if (!owner || !id) return std::nullopt;
  return EventKey{.owner = *owner, .id = *id};
}

Result<EventStore> EventStore::Create(sqlite::Database& database) {
  FIELDCOST_ASSIGN(
      const std::uint64_t tables,
      database.QueryInt("SELECT count(*) FROM sqlite_master WHERE name = 'event_schema'"));
  if (tables == 0) {
    if (database.InTransaction()) {
      FIELDCOST_TRY(database.Execute(kSchema));
    } else {
      FIELDCOST_ASSIGN(sqlite::Transaction transaction, sqlite::Transaction::Begin(database));
      FIELDCOST_TRY(database.Execute(kSchema));
      FIELDCOST_TRY(transaction.Commit());
    }
  }
  FIELDCOST_ASSIGN(const std::uint64_t version,
                   database.QueryInt("SELECT version FROM event_schema"));
  if (version != kSchemaVersion) {
    return Fail(ErrorCode::kUnsupported,
                "the database of probe points has version {}, this program reads {}", version,
                kSchemaVersion);
  }
  return EventStore(database);
}

Result<EventRow> EventStore::Row(const EventKey& key) const {
  sqlite::Statement statement = database_->Prepare(
      std::string(kSelectEvent) + " WHERE event.owner = ? AND id_run = ? AND id_number = ?");
  statement.Int(key.owner).Int(key.id.run).Int(key.id.number);
  FIELDCOST_ASSIGN(const bool found, statement.Step());
  if (!found) return Fail(ErrorCode::kNotFound, "there is no event {}", key.Text());
  return RowOf(statement);
}

Status EventStore::SetMark(const EventKey& key, Mark mark, const std::string& reason) {
  FIELDCOST_ASSIGN(const EventRow row, Row(key));
  return database_->Prepare("UPDATE event SET mark = ?, mark_reason = ? WHERE row = ?")
      .Int(static_cast<std::uint64_t>(mark))
      .Text(reason)
      .Int(row.row)
      .Run();
}

Result<EventStore::Size> EventStore::Measure() const {
  Size size;
  FIELDCOST_ASSIGN(size.events, database_->QueryInt("SELECT count(*) FROM event"));
  FIELDCOST_ASSIGN(size.hits, database_->QueryInt("SELECT ifnull(sum(hits), 0) FROM event"));
  FIELDCOST_ASSIGN(const std::uint64_t pages, database_->QueryInt("PRAGMA page_count"));
  FIELDCOST_ASSIGN(const std::uint64_t free, database_->QueryInt("PRAGMA freelist_count"));
  FIELDCOST_ASSIGN(const std::uint64_t page_bytes, database_->QueryInt("PRAGMA page_size"));
  size.bytes = (pages - free) * page_bytes;
  return size;
}

}  // namespace fieldcost::probe
