#include "agent/probe/spool.h"

#include <algorithm>

#include "common/base/clock.h"
#include "common/probe/event_batch.h"

namespace fieldcost::probe {
namespace {

constexpr char kSchema[] = R"(
CREATE TABLE IF NOT EXISTS ring(
  run INTEGER NOT NULL, number INTEGER NOT NULL, position INTEGER NOT NULL,
  PRIMARY KEY(run, number)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS outgoing(sequence INTEGER PRIMARY KEY AUTOINCREMENT, body BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS number(name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS word(name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
)";
constexpr char kSent[] = "sent";
constexpr char kRefused[] = "refused";
constexpr char kDropped[] = "dropped";
constexpr char kMayHaveArrived[] = "may_have_arrived";
constexpr char kLeaving[] = "leaving";  // a batch's number; 0: none
constexpr char kFailures[] = "failures";
constexpr char kNextTry[] = "next_try";  // microseconds since 1970

constexpr char kLastRefusal[] = "last_refusal";
constexpr char kDevice[] = "device";

constexpr std::uint64_t kLeastWaitSeconds = 60;
constexpr std::uint64_t kMostWaitSeconds = 3600;
constexpr std::uint64_t kPartRemoved = 8;  // of the total, per removal

Result<std::uint64_t> NumberOf(sqlite::Database& database, const char* name) {
  sqlite::Statement statement = database.Prepare("SELECT value FROM number WHERE name = ?");
  FIELDCOST_ASSIGN(const bool found, statement.Text(name).Step());
  return found ? statement.ColumnInt(0) : 0;
}

Result<std::string> WordOf(sqlite::Database& database, const char* name) {
  sqlite::Statement statement = database.Prepare("SELECT value FROM word WHERE name = ?");
  FIELDCOST_ASSIGN(const bool found, statement.Text(name).Step());
  return found ? statement.ColumnText(0) : std::string();
}

Status SetWord(sqlite::Database& database, const char* name, const std::string& value) {
  return database.Prepare("INSERT OR REPLACE INTO word VALUES(?, ?)").Text(name).Text(value).Run();
}

Status SetNumber(sqlite::Database& database, const char* name, std::uint64_t value) {
  return database.Prepare("INSERT OR REPLACE INTO number VALUES(?, ?)").Text(name).Int(value).Run();
}

}  // namespace

Spool::Spool(std::unique_ptr<sqlite::Database> database, EventStore events)
    : database_(std::move(database)), events_(std::make_unique<EventStore>(events)) {}

Result<Spool> Spool::Open(const std::filesystem::path& file) {
  return Open(file, sqlite::Database::Access::kCreate);
}

Result<Spool> Spool::OpenExisting(const std::filesystem::path& file) {
  return Open(file, sqlite::Database::Access::kWrite);
}

Result<Spool> Spool::Open(const std::filesystem::path& file, sqlite::Database::Access access) {
  FIELDCOST_ASSIGN(sqlite::Database opened, sqlite::Database::Open(file, access));
  auto database = std::make_unique<sqlite::Database>(std::move(opened));
  FIELDCOST_TRY(database->UseWriteAheadLog());
  FIELDCOST_TRY(database->Execute("PRAGMA synchronous = FULL"));
  FIELDCOST_ASSIGN(sqlite::Transaction transaction, sqlite::Transaction::Begin(*database));
  FIELDCOST_TRY(database->Execute(kSchema));
  FIELDCOST_ASSIGN(EventStore events, EventStore::Create(*database));
  FIELDCOST_TRY(transaction.Commit());
  return Spool(std::move(database), events);
}

Status Spool::Add(const char* number, std::uint64_t by) {
  FIELDCOST_ASSIGN(const std::uint64_t value, NumberOf(*database_, number));
  return SetNumber(*database_, number, value + by);
}

Result<Spool::Positions> Spool::PositionsOf(std::uint64_t run) {
  Positions positions{};
  sqlite::Statement statement =
      database_->Prepare("SELECT number, position FROM ring WHERE run = ?");
  statement.Int(run);
  for (;;) {
    FIELDCOST_ASSIGN(const bool found, statement.Step());
    if (!found) return positions;
    const std::uint64_t number = statement.ColumnInt(0);
    if (number < positions.size()) positions[number] = statement.ColumnInt(1);
  }
}

Status Spool::Keep(Batch batch, std::uint64_t run, const Positions& positions,
                   const std::function<Result<Destination>()>& destination) {
  FIELDCOST_ASSIGN(sqlite::Transaction transaction, sqlite::Transaction::Begin(*database_));
  FIELDCOST_TRY(events_->Add(batch, 0));
  FIELDCOST_ASSIGN(const Destination to, destination());
  if (to == Destination::kServer) {
    sqlite::Statement add =
        database_->Prepare("INSERT INTO outgoing(body) VALUES(x'') RETURNING sequence");
    FIELDCOST_TRY(add.Step());
    batch.sequence = add.ColumnInt(0);
    add.Reset();
    FIELDCOST_ASSIGN(const std::string body, EncodeBatch(batch));
    FIELDCOST_TRY(database_->Prepare("UPDATE outgoing SET body = ? WHERE sequence = ?")
                      .Blob(body)
                      .Int(batch.sequence)
                      .Run());
  }
  sqlite::Statement set = database_->Prepare("INSERT OR REPLACE INTO ring VALUES(?, ?, ?)");
  for (std::size_t i = 0; i < positions.size(); ++i) {
    if (positions[i] != 0) FIELDCOST_TRY(set.Int(run).Int(i).Int(positions[i]).Run());
  }
  return transaction.Commit();
}

Status Spool::ForgetPositions(std::uint64_t run) {
  return database_->Prepare("DELETE FROM ring WHERE run = ?").Int(run).Run();
}

Result<std::string> Spool::Device() { return WordOf(*database_, kDevice); }
Status Spool::SetDevice(const std::string& device) { return SetWord(*database_, kDevice, device); }

Result<std::optional<Spool::Outgoing>> Spool::FirstOutgoing() {
  sqlite::Statement statement =
      database_->Prepare("SELECT sequence, body FROM outgoing ORDER BY sequence LIMIT 1");
  FIELDCOST_ASSIGN(const bool found, statement.Step());
  if (!found) return std::optional<Outgoing>();
  return std::optional<Outgoing>({statement.ColumnInt(0), statement.ColumnText(1)});
}

Status Spool::MarkSent(std::uint64_t sequence) {
  FIELDCOST_ASSIGN(sqlite::Transaction transaction, sqlite::Transaction::Begin(*database_));
  FIELDCOST_TRY(database_->Prepare("DELETE FROM outgoing WHERE sequence = ?").Int(sequence).Run());
  if (database_->changes() != 0) FIELDCOST_TRY(Add(kSent, 1));
  return transaction.Commit();
}

Status Spool::MarkRefused(std::uint64_t sequence, const std::string& reason) {
  FIELDCOST_ASSIGN(sqlite::Transaction transaction, sqlite::Transaction::Begin(*database_));
  FIELDCOST_TRY(database_->Prepare("DELETE FROM outgoing WHERE sequence = ?").Int(sequence).Run());
  if (database_->changes() != 0) FIELDCOST_TRY(Add(kRefused, 1));
  FIELDCOST_TRY(SetWord(*database_, kLastRefusal, reason));
  return transaction.Commit();
}

Status Spool::NoteLeaving(std::uint64_t sequence) {
  return SetNumber(*database_, kLeaving, sequence);
}

Status Spool::NoteNotLeft() { return SetNumber(*database_, kLeaving, 0); }

Result<std::uint64_t> Spool::DropOutgoing() {
  FIELDCOST_ASSIGN(sqlite::Transaction transaction, sqlite::Transaction::Begin(*database_));
  FIELDCOST_ASSIGN(const std::uint64_t leaving, NumberOf(*database_, kLeaving));
  FIELDCOST_TRY(database_->Prepare("DELETE FROM outgoing WHERE sequence = ?").Int(leaving).Run());
  const std::uint64_t may_have_arrived = database_->changes();
  FIELDCOST_TRY(Add(kMayHaveArrived, may_have_arrived));
  FIELDCOST_TRY(database_->Prepare("DELETE FROM outgoing").Run());
  const std::uint64_t dropped = database_->changes() + may_have_arrived;
  FIELDCOST_TRY(Add(kDropped, dropped));
  FIELDCOST_TRY(transaction.Commit());
  return dropped;
}

Status Spool::NoteFailure(WallTime now, std::optional<std::chrono::seconds> retry_after) {
  FIELDCOST_ASSIGN(sqlite::Transaction transaction, sqlite::Transaction::Begin(*database_));
  FIELDCOST_ASSIGN(const std::uint64_t failures, NumberOf(*database_, kFailures));
  std::uint64_t wait = kLeastWaitSeconds << std::min<std::uint64_t>(failures, 10);
  if (retry_after)
    wait =
        std::max(wait, static_cast<std::uint64_t>(std::max<std::int64_t>(0, retry_after->count())));
  const auto at = now + std::chrono::seconds(std::min(wait, kMostWaitSeconds));
  FIELDCOST_TRY(SetNumber(*database_, kFailures, failures + 1));
  FIELDCOST_TRY(SetNumber(*database_, kNextTry, MicrosOf(at)));
  return transaction.Commit();
}

Status Spool::NoteSuccess() {
  FIELDCOST_ASSIGN(sqlite::Transaction transaction, sqlite::Transaction::Begin(*database_));
  FIELDCOST_TRY(SetNumber(*database_, kFailures, 0));
  FIELDCOST_TRY(SetNumber(*database_, kNextTry, 0));
  return transaction.Commit();
}

Result<WallTime> Spool::NextTry() {
  FIELDCOST_ASSIGN(const std::uint64_t micros, NumberOf(*database_, kNextTry));
  return TimeOfMicros(micros);
}

Result<Spool::Totals> Spool::Count() {
  Totals totals;
  FIELDCOST_ASSIGN(totals.queued, database_->QueryInt("SELECT count(*) FROM outgoing"));
  FIELDCOST_ASSIGN(totals.queued_bytes,
                   database_->QueryInt("SELECT ifnull(sum(length(body)), 0) FROM outgoing"));
  FIELDCOST_ASSIGN(totals.sent, NumberOf(*database_, kSent));
  FIELDCOST_ASSIGN(totals.refused, NumberOf(*database_, kRefused));
  FIELDCOST_ASSIGN(totals.dropped, NumberOf(*database_, kDropped));
  FIELDCOST_ASSIGN(totals.may_have_arrived, NumberOf(*database_, kMayHaveArrived));
  FIELDCOST_ASSIGN(totals.last_refusal, WordOf(*database_, kLastRefusal));
  return totals;
}

Status Spool::Trim(std::uint64_t most_bytes) {
  for (;;) {
    FIELDCOST_ASSIGN(const EventStore::Size size, events_->Measure());
    if (size.bytes <= most_bytes) return {};
    FIELDCOST_ASSIGN(sqlite::Transaction transaction, sqlite::Transaction::Begin(*database_));
    FIELDCOST_ASSIGN(const std::uint64_t queued,
                     database_->QueryInt("SELECT count(*) FROM outgoing"));
    FIELDCOST_ASSIGN(const Removed removed,
                     events_->Expire(~std::uint64_t{0} >> 1, size.events / kPartRemoved + 1));
    FIELDCOST_TRY(database_
                      ->Prepare("DELETE FROM outgoing WHERE sequence IN "
                                "(SELECT sequence FROM outgoing ORDER BY sequence LIMIT ?)")
                      .Int(queued / kPartRemoved + 1)
                      .Run());
    const std::uint64_t batches = database_->changes();
    FIELDCOST_TRY(Add(kDropped, batches));
    FIELDCOST_TRY(transaction.Commit());
    if (removed.events == 0 && !removed.has_more && batches == 0) return {};
  }
}

}  // namespace fieldcost::probe
