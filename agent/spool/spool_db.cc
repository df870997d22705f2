#include "agent/spool/spool_db.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "common/base/clock.h"
#include "common/base/text.h"
#include "common/crypto/sha256.h"
#include "common/wire/epoch.h"

namespace fieldcost::spool {
namespace {

// This many refused batches keep their bytes, so that the user can inspect them.
constexpr std::uint64_t kMaxQuarantinedBodies = 256;
// Log entries that are kept, in addition to batches with stored bytes.
constexpr std::uint64_t kMaxLogEntries = 4096;
constexpr char kHeldReason[] = "held separately by the service until it knows this agent";
constexpr std::chrono::hours kPaceTime{7 * 24};
constexpr std::chrono::hours kLeastAgeStep{1};  // avoids frequent writes

// Selects batches that the service may hold: accepted ones, and attempts without a response.
constexpr char kMayBeThere[] =
    "(state = 1 OR (state IN (0, 4) AND attempts > 0) OR (state = 2 AND attempts > 1))";
static_assert(static_cast<int>(SpoolState::kQueued) == 0 &&
              static_cast<int>(SpoolState::kSent) == 1 &&
              static_cast<int>(SpoolState::kQuarantined) == 2 &&
              static_cast<int>(SpoolState::kDropped) == 4);

constexpr char kBatchColumns[] = "id, epoch, sequence, state, attempts, rows, receipt, body";

std::uint64_t CountOf(WallTime::duration duration) {
  return static_cast<std::uint64_t>(duration.count());
}

std::uint64_t Number(SpoolState state) { return static_cast<std::uint64_t>(state); }

Result<std::optional<SpooledBatch>> ReadBatchRow(sqlite::Statement& statement) {
  FIELDCOST_ASSIGN(const bool found, statement.Step());
  if (!found) return std::optional<SpooledBatch>();
  return std::optional<SpooledBatch>({.id = statement.ColumnInt(0),
                                      .epoch = wire::Epoch(statement.ColumnInt(1)),
                                      .sequence = statement.ColumnInt(2),
                                      .state = static_cast<SpoolState>(statement.ColumnInt(3)),
                                      .attempts = statement.ColumnInt(4),
                                      .rows = statement.ColumnInt(5),
                                      .receipt = statement.ColumnText(6),
                                      .body = statement.ColumnText(7)});
}

}  // namespace

Result<wire::Epoch> SpoolDb::LastEpoch() {
  FIELDCOST_ASSIGN(const std::uint64_t epoch, state_->Get(kEpochNumber, 0));
  return wire::Epoch(epoch);
}

Result<BatchNumber> SpoolDb::NextNumber(wire::Epoch clock_epoch) {
  FIELDCOST_ASSIGN(const wire::Epoch used, LastEpoch());
  const wire::Epoch epoch =
      clock_epoch < wire::kEarliestEpoch ? std::max(clock_epoch, used) : clock_epoch;
  if (epoch == used) {
    FIELDCOST_ASSIGN(const std::uint64_t next, state_->Get(kNextSequenceNumber, 1));
    return BatchNumber{.epoch = epoch, .sequence = next};
  }
  // The highest used sequence is in the log, which removes the lowest of an epoch first; once none
  // are left, the epoch's key is gone, too.
  sqlite::Statement greatest =
      database_->Prepare("SELECT coalesce(max(sequence), 0) FROM spool WHERE epoch = ?");
  FIELDCOST_TRY(greatest.Int(epoch.value()).Step());
  return BatchNumber{.epoch = epoch, .sequence = greatest.ColumnInt(0) + 1};
}

Result<stats::HardwareClass> SpoolDb::ClassOf(wire::Epoch epoch, const stats::HardwareClass& now) {
  sqlite::Statement statement = database_->Prepare(
      "SELECT architecture, cpu_family, log2_cores, log2_memory_mib, os_release FROM epoch_class "
      "WHERE epoch = ?");
  FIELDCOST_ASSIGN(const bool found, statement.Int(epoch.value()).Step());
  if (!found) return now;
  return stats::HardwareClass{.architecture = statement.ColumnText(0),
                              .cpu_family = statement.ColumnText(1),
                              .log2_cores = static_cast<std::uint32_t>(statement.ColumnInt(2)),
                              .log2_memory_mib = static_cast<std::uint32_t>(statement.ColumnInt(3)),
                              .os_release = statement.ColumnText(4)};
}

Status SpoolDb::PinClass(wire::Epoch epoch, const stats::HardwareClass& hardware) {
  return database_->Prepare("INSERT OR IGNORE INTO epoch_class VALUES (?, ?, ?, ?, ?, ?)")
      .Int(epoch.value())
      .Text(hardware.architecture)
      .Text(hardware.cpu_family)
      .Int(hardware.log2_cores)
      .Int(hardware.log2_memory_mib)
      .Text(hardware.os_release)
      .Run();
}

Status SpoolDb::KeepClasses(const std::vector<wire::Epoch>& epochs) {
  std::vector<std::uint64_t> numbers;
  for (const wire::Epoch epoch : epochs) numbers.push_back(epoch.value());
  return database_->Execute(
      fmt::format("DELETE FROM epoch_class WHERE epoch NOT IN ({})", fmt::join(numbers, ","))
          .c_str());
}

Result<std::uint64_t> SpoolDb::Add(std::string_view body, std::uint64_t rows,
                                   wire::Epoch clock_epoch, WallTime now) {
  FIELDCOST_ASSIGN(const BatchNumber number, NextNumber(clock_epoch));
  sqlite::Statement insert = database_->Prepare(
      "INSERT INTO spool (epoch, sequence, state, rows, created, size_bytes, sha256, body) "
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING id");
  FIELDCOST_TRY(insert.Int(number.epoch.value())
                    .Int(number.sequence)
                    .Int(Number(SpoolState::kQueued))
                    .Int(rows)
                    .Int(MicrosOf(now))
                    .Int(body.size())
                    .Text(crypto::HexSha256(body))
                    .Blob(body)
                    .Step());
  const std::uint64_t id = insert.ColumnInt(0);
  FIELDCOST_TRY(insert.Run());
  FIELDCOST_TRY(state_->Set(kEpochNumber, number.epoch.value()));
  FIELDCOST_TRY(state_->Set(kNextSequenceNumber, number.sequence + 1));
  return id;
}

Result<std::optional<SpooledBatch>> SpoolDb::FirstQueued() {
  sqlite::Statement statement = database_->Prepare(
      fmt::format("SELECT {} FROM spool WHERE state = 0 ORDER BY id LIMIT 1", kBatchColumns));
  return ReadBatchRow(statement);
}

Result<std::optional<SpooledBatch>> SpoolDb::Find(std::uint64_t id) {
  sqlite::Statement statement =
      database_->Prepare(fmt::format("SELECT {} FROM spool WHERE id = ?", kBatchColumns));
  return ReadBatchRow(statement.Int(id));
}

Result<bool> SpoolDb::MarkAttempted(std::uint64_t id) {
  FIELDCOST_TRY(
      database_->Prepare("UPDATE spool SET attempts = attempts + 1 WHERE id = ? AND state = 0")
          .Int(id)
          .Run());
  return database_->changes() > 0;
}

Status SpoolDb::TakeBackAttempt(std::uint64_t id) {
  FIELDCOST_TRY(
      database_->Prepare("UPDATE spool SET attempts = attempts - 1 WHERE id = ? AND attempts > 0")
          .Int(id)
          .Run());
  FIELDCOST_TRY(
      database_->Prepare("UPDATE spool SET body = '' WHERE id = ? AND state = ? AND attempts = 0")
          .Int(id)
          .Int(Number(SpoolState::kDropped))
          .Run());
  if (database_->changes() == 0) return {};
  return DropContributed(id);
}

Status SpoolDb::MarkSent(std::uint64_t id, const wire::BatchAnswer& answer, WallTime now) {
  FIELDCOST_TRY(database_
                    ->Prepare("UPDATE spool SET state = ?, sent = ?, receipt = ?, "
                              "rejected_rows = ?, reason = ? WHERE id = ? AND state IN (0, 4)")
                    .Int(Number(SpoolState::kSent))
                    .Int(MicrosOf(now))
                    .Text(answer.receipt)
                    .Int(answer.rejected_rows)
                    .Text(answer.held ? kHeldReason : "")
                    .Int(id)
                    .Run());
  return PruneLog();
}

Status SpoolDb::MarkQuarantined(std::uint64_t id, std::string_view reason, WallTime now) {
  FIELDCOST_TRY(
      database_
          ->Prepare("UPDATE spool SET state = ?, sent = ?, reason = ? WHERE id = ? AND state = 0")
          .Int(Number(SpoolState::kQuarantined))
          .Int(MicrosOf(now))
          .Text(reason)
          .Int(id)
          .Run());
  // If it was attempted before, it may have arrived then, so it still counts as contributed.
  FIELDCOST_TRY(database_
                    ->Prepare("DELETE FROM contributed WHERE batch IN (SELECT id FROM spool WHERE "
                              "id = ? AND state = ? AND attempts <= 1)")
                    .Int(id)
                    .Int(Number(SpoolState::kQuarantined))
                    .Run());
  return database_
      ->Prepare(
          "UPDATE spool SET body = '' WHERE state = ?1 AND id <= "
          "(SELECT id FROM spool WHERE state = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)")
      .Int(Number(SpoolState::kQuarantined))
      .Int(kMaxQuarantinedBodies)
      .Run();
}

Result<std::uint64_t> SpoolDb::DropUnsent(std::string_view reason, WallTime now) {
  FIELDCOST_TRY(database_->Execute("DELETE FROM pending_row"));
  FIELDCOST_TRY(
      database_->Execute("DELETE FROM contributed WHERE batch IN "
                         "(SELECT id FROM spool WHERE state = 0 AND attempts = 0)"));
  FIELDCOST_ASSIGN(
      const std::uint64_t unsent,
      database_->QueryInt("SELECT count(*) FROM spool WHERE state = 0 AND attempts = 0"));
  FIELDCOST_TRY(database_
                    ->Prepare("UPDATE spool SET state = ?, sent = ?, "
                              "reason = ? || iif(attempts = 0, '', ?), "
                              "body = iif(attempts = 0, '', body) WHERE state = 0")
                    .Int(Number(SpoolState::kDropped))
                    .Int(MicrosOf(now))
                    .Text(reason)
                    .Text("; it had left before, and may have arrived")
                    .Run());
  return unsent;
}

Status SpoolDb::GrowOlder(WallTime now) {
  FIELDCOST_ASSIGN(const std::uint64_t queued,
                   database_->QueryInt("SELECT count(*) FROM spool WHERE state = 0"));
  FIELDCOST_ASSIGN(const std::uint64_t last_seen, state_->Get(kLastSeenNumber, 0));
  if (last_seen != 0) {
    const WallTime::duration gap = now - TimeOfMicros(last_seen);
    if (gap >= WallTime::duration(0) && gap < kLeastAgeStep) return {};
    const WallTime::duration step =
        std::clamp<WallTime::duration>(gap, WallTime::duration(0), kMaxAgeStep);
    if (queued > 0) {
      FIELDCOST_TRY(database_->Prepare("UPDATE spool SET waited = waited + ? WHERE state = 0")
                        .Int(CountOf(step))
                        .Run());
    }
  }
  return state_->Set(kLastSeenNumber, MicrosOf(now));
}

Status SpoolDb::DropExcess(std::chrono::hours max_age, std::uint64_t max_bytes, WallTime now) {
  for (;;) {
    sqlite::Statement oldest = database_->Prepare(
        "SELECT id, rows, attempts, waited, (SELECT sum(size_bytes) FROM spool WHERE state = 0) "
        "FROM spool WHERE state = 0 ORDER BY id LIMIT 1");
    FIELDCOST_ASSIGN(const bool found, oldest.Step());
    if (!found) return {};
    const std::uint64_t id = oldest.ColumnInt(0);
    const std::uint64_t rows = oldest.ColumnInt(1);
    const bool was_tried = oldest.ColumnInt(2) > 0;
    const bool too_old = oldest.ColumnInt(3) > CountOf(max_age);
    if (!too_old && oldest.ColumnInt(4) <= max_bytes) return {};
    // If it was attempted, it may have arrived: it still counts as contributed, and can be
    // withdrawn.
    if (!was_tried) FIELDCOST_TRY(DropContributed(id));
    FIELDCOST_TRY(database_
                      ->Prepare("UPDATE spool SET state = ?, sent = ?, reason = ?, "
                                "body = iif(attempts = 0, '', body) WHERE id = ?")
                      .Int(Number(SpoolState::kDropped))
                      .Int(MicrosOf(now))
                      .Text(too_old ? "could not be sent for too long" : "the spool was full")
                      .Int(id)
                      .Run());
    FIELDCOST_TRY(state_->Add(kDroppedBatchesNumber, 1));
    FIELDCOST_TRY(state_->Add(kDroppedRowsNumber, rows));
  }
}

Status SpoolDb::DropOldBytes(std::uint64_t max_bytes) {
  FIELDCOST_TRY(
      database_
          ->Prepare("UPDATE spool SET body = '' WHERE id IN (SELECT id FROM "
                    "(SELECT id, sum(size_bytes) OVER (ORDER BY id DESC) AS total "
                    "FROM spool WHERE state IN (1, 4) AND length(body) > 0) WHERE total > ?)")
          .Int(max_bytes)
          .Run());
  return PruneLog();
}

Status SpoolDb::PruneLog() {
  return database_
      ->Prepare(
          "DELETE FROM spool WHERE state != 0 AND length(body) = 0 AND "
          "id + ? <= (SELECT max(id) FROM spool)")
      .Int(kMaxLogEntries)
      .Run();
}

Result<std::optional<SpooledBatch>> SpoolDb::NextToWithdraw(std::uint64_t after_id) {
  sqlite::Statement statement = database_->Prepare(fmt::format(
      "SELECT {} FROM spool WHERE id > ? AND length(body) > 0 AND {} ORDER BY id LIMIT 1",
      kBatchColumns, kMayBeThere));
  return ReadBatchRow(statement.Int(after_id));
}

Status SpoolDb::MarkWithdrawn(std::uint64_t id, WallTime now) {
  FIELDCOST_TRY(database_
                    ->Prepare("UPDATE spool SET state = ?, sent = ?, receipt = '', reason = '', "
                              "body = '' WHERE id = ?")
                    .Int(Number(SpoolState::kWithdrawn))
                    .Int(MicrosOf(now))
                    .Int(id)
                    .Run());
  FIELDCOST_TRY(DropContributed(id));
  return PruneLog();
}

Status SpoolDb::NoteRefusal(std::uint64_t id, std::string_view reason) {
  return database_->Prepare("UPDATE spool SET reason = ? WHERE id = ?").Text(reason).Int(id).Run();
}

Result<std::uint64_t> SpoolDb::CountTooOld() {
  return database_->QueryInt("SELECT count(*) FROM spool WHERE state = 1 AND length(body) = 0");
}

Status SpoolDb::DropContributed(std::uint64_t id) {
  return database_->Prepare("DELETE FROM contributed WHERE batch = ?").Int(id).Run();
}

Result<SpoolTotals> SpoolDb::Totals() {
  SpoolTotals totals;
  sqlite::Statement statement =
      database_->Prepare("SELECT state, count(*), sum(size_bytes) FROM spool GROUP BY state");
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
        break;
    }
  }
}

Result<SpoolPace> SpoolDb::Pace(WallTime now) {
  SpoolPace pace;
  sqlite::Statement queued =
      database_->Prepare("SELECT count(*), min(created) FROM spool WHERE state = 0");
  FIELDCOST_TRY(queued.Step());
  pace.queued = queued.ColumnInt(0);
  pace.oldest_queued = TimeOfMicros(queued.ColumnInt(1));
  sqlite::Statement made =
      database_->Prepare("SELECT count(*) FROM spool WHERE created BETWEEN ? AND ?");
  FIELDCOST_TRY(made.Int(MicrosOf(now - kPaceTime)).Int(MicrosOf(now)).Step());
  pace.made_last_week = made.ColumnInt(0);
  return pace;
}

Result<std::vector<LoggedBatch>> SpoolDb::Log() {
  std::vector<LoggedBatch> log;
  sqlite::Statement statement = database_->Prepare(
      fmt::format("SELECT id, epoch, sequence, state, rows, rejected_rows, created, sent, "
                  "size_bytes, sha256, reason, length(body) > 0 AND {} FROM spool ORDER BY id",
                  kMayBeThere));
  for (;;) {
    FIELDCOST_ASSIGN(const bool more, statement.Step());
    if (!more) return log;
    log.push_back({.id = statement.ColumnInt(0),
                   .epoch = wire::Epoch(statement.ColumnInt(1)),
                   .sequence = statement.ColumnInt(2),
                   .state = static_cast<SpoolState>(statement.ColumnInt(3)),
                   .rows = statement.ColumnInt(4),
                   .rejected_rows = statement.ColumnInt(5),
                   .created = TimeOfMicros(statement.ColumnInt(6)),
                   .sent = TimeOfMicros(statement.ColumnInt(7)),
                   .size_bytes = statement.ColumnInt(8),
                   .sha256 = statement.ColumnText(9),
                   .reason = statement.ColumnText(10),
                   .can_withdraw = statement.ColumnInt(11) != 0});
  }
}

Result<std::vector<wire::Epoch>> SpoolDb::EpochsInUse() {
  std::vector<wire::Epoch> epochs;
  sqlite::Statement statement = database_->Prepare(
      fmt::format("SELECT DISTINCT epoch FROM spool WHERE state = 0 OR (length(body) > 0 AND {}) "
                  "ORDER BY epoch",
                  kMayBeThere));
  for (;;) {
    FIELDCOST_ASSIGN(const bool more, statement.Step());
    if (!more) return epochs;
    epochs.emplace_back(statement.ColumnInt(0));
  }
}

}  // namespace fieldcost::spool
