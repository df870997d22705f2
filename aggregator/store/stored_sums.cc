#include "aggregator/store/stored_sums.h"

#include <utility>

#include "aggregator/store/batch_record.h"
#include "aggregator/store/kept.h"
#include "aggregator/store/published_codec.h"
#include "aggregator/store/store_limits.h"
#include "aggregator/store/store_row_codec.h"
#include "common/base/byte_order.h"
#include "common/base/check.h"

namespace fieldcost::store {
StoredSums::StoredSums(Database& database, const StoreOptions& options, WriteFailure& failure,
                       KeptBatches& kept)
    : database_(database),
      options_(options),
      failure_(failure),
      kept_(kept),
      recent_(database, options, failure) {
  failure_.WakeBy([this] { recent_.WakeAll(); });
}

StoredSums::~StoredSums() { StopCheckpoints(); }

// Adds inbox records to the recent rows, one by one.
class StoredSums::RecordAdder {
 public:
  explicit RecordAdder(RecentRows& recent) : recent_(recent) {}
  Status Add(std::string_view record) {
    FIELDCOST_ASSIGN(const RecordKind kind, RecordKindOf(record));
    if (kind != RecordKind::kBatch) return recent_.AddRecord(record);
    FIELDCOST_TRY(reader_.Read(record, rows_));
    recent_.Add(rows_);
    return {};
  }

 private:
  RecentRows& recent_;
  BatchRecordReader reader_;
  AcceptedRows rows_;
};

Status StoredSums::LoadProgress() {
  const MutexLock lock(checkpoint_mutex_);
  FIELDCOST_ASSIGN(const auto applied_bytes, database_.Get(Table::kProgress, kAppliedKey));
  if (applied_bytes) {
    if (applied_bytes->size() != 8) return Fail(ErrorCode::kCorrupt, "applied number is malformed");
    applied_ = ReadBigEndian(*applied_bytes);
  }
  FIELDCOST_ASSIGN(const auto totals_bytes, database_.Get(Table::kProgress, kTotalsKey));
  if (totals_bytes) {
    FIELDCOST_ASSIGN(totals_, Totals::Decode(*totals_bytes));
  }
  last_number_ = applied_;
  return {};
}

// Notes which entries of the inbox are obsolete, and which batches are to be removed.
Status StoredSums::NoteInbox() {
  const auto note = [this](std::string_view key, std::string_view)
                        FIELDCOST_REQUIRES(checkpoint_mutex_) -> Status {
    PendingRemoval one;
    if (IsRemovalKey(key, one.withdrawal, one.batch)) {
      kept_.AddPending(one);
    } else if (key.size() == kNumberBytes) {
      one.withdrawal = ReadBigEndian(key);
    } else {
      return Fail(ErrorCode::kCorrupt, "inbox key is malformed");
    }
    inbox_left_ = inbox_left_ || one.withdrawal <= applied_;
    return {};
  };
  return database_.ForEach(Table::kInbox, "", nullptr, note);
}

Status StoredSums::Replay(bool read_only) {
  const LevelLock lock(checkpoint_mutex_, lock_order::kCheckpoint);
  FIELDCOST_TRY(NoteInbox());
  RecordAdder adder(recent_);
  const auto add = [&](std::uint64_t number, std::string_view record)
                       FIELDCOST_REQUIRES(checkpoint_mutex_, lock_order::kCheckpoint) -> Status {
    last_number_ = number;
    if (Status status = adder.Add(record); !status) {
      return Within(std::move(status).error(), fmt::format("batch {} of the log", number));
    }
    if (!read_only && recent_.IsCheckpointDue()) return CheckpointLocked();
    return {};
  };
  // Read both tables in the order of numbers, since a checkpoint covers all numbers up to one.
  std::uint64_t next = applied_ + 1;
  Database::Lookup inbox(database_, Table::kInbox, nullptr);
  const auto add_batch = [&](std::string_view key, std::string_view value) FIELDCOST_REQUIRES(
                             checkpoint_mutex_, lock_order::kCheckpoint) -> Status {
    if (key.size() != 8) return Fail(ErrorCode::kCorrupt, "a batch's key is malformed");
    const std::uint64_t number = ReadBigEndian(key);
    for (; next < number; ++next) {
      FIELDCOST_ASSIGN(const auto other, inbox.Find(NumberKey(next)));
      if (other) FIELDCOST_TRY(add(next, *other));
    }
    ++next;
    return add(number, value);
  };
  FIELDCOST_TRY(database_.ForEach(Table::kBatches, NumberKey(next), nullptr, add_batch));
  const auto add_rest = [&](std::string_view key, std::string_view value) FIELDCOST_REQUIRES(
                            checkpoint_mutex_, lock_order::kCheckpoint) -> Status {
    if (key.size() != 8) return {};
    return add(ReadBigEndian(key), value);
  };
  return database_.ForEach(Table::kInbox, NumberKey(next), nullptr, add_rest);
}

Status StoredSums::Write(Database::WriteSet& changes) {
  if (failure_.has_happened()) return Fail(ErrorCode::kIo, "the store has failed");
  return database_.Write(changes);
}

Status StoredSums::Finish(const Status& status) {
  recent_.WakeIfDue();
  // Must happen before the next checkpoint, which would cover the number of a record that may still
  // be in the log.
  if (!status) return failure_.Record(status.error());
  return {};
}

Status StoredSums::Commit(Database::WriteSet& changes) {
  recent_.AwaitMemory();
  const InsideGate inside(gate_, lock_order::kCommit);
  return Finish(Write(changes));
}

Status StoredSums::CommitAdditions(Database::WriteSet& changes, std::string_view head_key,
                                   std::span<const Addition> additions, const AcceptedRows& rows,
                                   StageTimes* stages) {
  FIELDCOST_CHECK(!additions.empty());
  recent_.AwaitMemory();
  const InsideGate inside(gate_, lock_order::kCommit);
  for (const Addition& addition : additions) {
    kept_.PutAddition(addition, head_key, last_number_.fetch_add(1) + 1, changes);
  }
  Status status = Write(changes);
  EndStage(stages, BatchStage::kLog);
  RecordAdder adder(recent_);
  for (const Addition& addition : additions.first(additions.size() - 1)) {
    if (status) status = adder.Add(addition.record);
  }
  if (status) recent_.Add(rows);
  EndStage(stages, BatchStage::kFold);
  return Finish(status);
}

Status StoredSums::CommitWithdrawal(Database::WriteSet& changes, std::string_view withdrawn_record,
                                    std::optional<std::uint64_t> kept_number,
                                    std::span<const UnitWeeks> units) {
  recent_.AwaitMemory();
  const InsideGate inside(gate_, lock_order::kCommit);
  const std::uint64_t withdrawal = last_number_.fetch_add(1) + 1;
  changes.Put(Table::kInbox, NumberKey(withdrawal), withdrawn_record);
  if (kept_number) changes.Put(Table::kInbox, RemovalKey(withdrawal, *kept_number), {});
  for (const UnitWeeks& unit : units) {
    changes.Put(Table::kPublished, MarkEntryKey(unit.unit_key, withdrawal),
                EncodeMark({.withdrawal = withdrawal, .record = kept_number, .weeks = unit.weeks}));
  }
  Status status = Write(changes);
  if (status && kept_number) kept_.AddPending({.withdrawal = withdrawal, .batch = *kept_number});
  if (status) status = recent_.AddRecord(withdrawn_record);
  return Finish(status);
}

Totals StoredSums::NewestTotals() const {
  const MutexLock lock(checkpoint_mutex_);
  Totals all = totals_;
  all.Add(recent_.dirty_totals());
  return all;
}

void StoredSums::SetBackingUp(bool value) {
  const MutexLock lock(checkpoint_mutex_);
  backing_up_ = value;
}

void StoredSums::AddTo(StoreGauges& gauges) const {
  gauges.sequence = last_number_;
  gauges.checkpoints = checkpoints_;
  gauges.checkpoint_microseconds = checkpoint_microseconds_;
  gauges.dirty_rows = recent_.row_count();
  gauges.dirty_bytes = recent_.memory_bytes();
}

}  // namespace fieldcost::store
