// Writes the recent rows into the stored ones: the part of StoredSums about checkpoints.
#include <chrono>
#include <utility>

#include "aggregator/store/store_row_codec.h"
#include "aggregator/store/stored_sums.h"
#include "common/base/check.h"
#include "common/base/log.h"

namespace fieldcost::store {
namespace {

// Puts the new value of every row of `table` into `changes`; empty rows are deleted.
Status WriteRows(const Database& database, const Database::View* base, const DirtyTable& table,
                 Database::SortedSet& changes) {
  Database::Lookup rows(database, Table::kRows, base);
  CompactRow sums;
  std::string value;
  return table.ForEach(
      [&](const std::string& key, const CompactRow* added, const CompactRow* removed) -> Status {
        FIELDCOST_ASSIGN(const auto stored, rows.Find(key));
        sums.Clear();
        if (stored) FIELDCOST_TRY(DecodeRowValue(*stored, sums));
        if (added != nullptr) sums.Add(*added);
        if (removed != nullptr) FIELDCOST_TRY(sums.Subtract(*removed));
        if (sums.buckets.empty()) return stored ? changes.Delete(Table::kRows, key) : Status();
        value.clear();
        AppendRowValue(sums, value);
        return changes.Put(Table::kRows, key, value);
      });
}

}  // namespace

void StoredSums::StartCheckpoints() {
  FIELDCOST_CHECK(!checkpointer_.joinable());
  if (options_.checkpoint_seconds == 0) return;
  checkpointer_ = std::thread([this] { RunCheckpoints(); });
}

void StoredSums::StopCheckpoints() {
  recent_.Stop();
  if (checkpointer_.joinable()) checkpointer_.join();
}

void StoredSums::RunCheckpoints() {
  while (recent_.AwaitCheckpoint()) {
    if (Status status = Checkpoint(); !status) {
      LogError("checkpoint failed: {}", status.error().message);
    }
  }
}

Status StoredSums::Checkpoint() {
  const LevelLock lock(checkpoint_mutex_, lock_order::kCheckpoint);
  return CheckpointLocked();
}

Status StoredSums::CheckpointAndFlush() {
  const LevelLock lock(checkpoint_mutex_, lock_order::kCheckpoint);
  FIELDCOST_TRY(CheckpointLocked());
  const Status flushed = database_.Flush();
  return flushed ? flushed : failure_.Record(flushed.error());
}

Result<StoredSums::Moment> StoredSums::Snapshot() {
  const LevelLock lock(checkpoint_mutex_, lock_order::kCheckpoint);
  FIELDCOST_TRY(CheckpointLocked());
  return Moment{.view = database_.Freeze(), .number = applied_, .totals = totals_};
}

Result<StoredSums::Moment> StoredSums::MomentBetweenCommits() {
  const LevelLock lock(checkpoint_mutex_, lock_order::kCheckpoint);
  Moment moment{.number = applied_, .totals = totals_};
  {
    const ClosedGate closed(gate_, lock_order::kCommit);
    moment.view = database_.Freeze();
    moment.totals.Add(recent_.dirty_totals());
  }
  // It is unknown how much of the last write reached the disk, and a checkpoint may be unfinished.
  if (failure_.has_happened()) return StoreFailed();
  return moment;
}

std::uint64_t StoredSums::SetAside(RecentRows::Frozen& frozen) {
  // While no thread is inside the gate, all numbers assigned so far are in the dirty table.
  const ClosedGate closed(gate_, lock_order::kCommit);
  frozen = recent_.SetAside();
  return last_number_;
}

Status StoredSums::WriteFrozen(const RecentRows::Frozen& frozen, std::uint64_t number,
                               const Totals& new_totals) {
  Database::SortedSet changes(database_);
  FIELDCOST_TRY(WriteRows(database_, frozen.stored.get(), *frozen.rows, changes));
  FIELDCOST_TRY(changes.Put(Table::kProgress, kAppliedKey, NumberKey(number)));
  FIELDCOST_TRY(changes.Put(Table::kProgress, kTotalsKey, new_totals.Encode()));
  // First flush what the new rows depend on. Otherwise, if the log lost its end, it would be older
  // than the rows, and the lost batches would arrive again and be counted twice.
  FIELDCOST_TRY(database_.Flush());
  return database_.Adopt(changes);
}

Status StoredSums::CheckpointLocked() {
  // 1. Set aside the rows to be written.
  if (failure_.has_happened()) return StoreFailed();
  // Destroyed on return, not while the recent rows are locked, since freeing it takes long.
  RecentRows::Frozen frozen;
  const std::uint64_t number = SetAside(frozen);
  if (failure_.has_happened()) return StoreFailed();
  FIELDCOST_CHECK(applied_ <= number);
  if (!frozen.rows) {
    // A backup or a crash may have left entries in the inbox that are already in the sums.
    if (!inbox_left_ || backing_up_) return {};
    const Status emptied = EmptyInbox(applied_);
    return emptied ? emptied : failure_.Record(emptied.error());
  }
  const auto start = std::chrono::steady_clock::now();
  if (options_.on_checkpoint) options_.on_checkpoint(CheckpointStage::kFrozen);

  // 2. Write the new rows, totals and `applied_`, and adopt them in one step.
  FIELDCOST_CHECK(applied_ < number);
  Totals new_totals = totals_;
  new_totals.Add(frozen.rows->totals());
  if (Status status = WriteFrozen(frozen, number, new_totals); !status) {
    return failure_.Record(status.error());
  }
  if (options_.on_checkpoint) options_.on_checkpoint(CheckpointStage::kWritten);

  // 3. Empty the inbox: its entries up to `number` are obsolete, whether removed or not. A backup
  //    in progress may have the previous list of files, but will get the current log.
  inbox_left_ = true;
  if (!backing_up_) {
    if (Status status = EmptyInbox(number); !status) return failure_.Record(status.error());
  }
  // 4. Make the new rows visible to readers.
  applied_ = number;
  totals_ = new_totals;
  ++checkpoints_;
  checkpoint_microseconds_ +=
      static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(
                                     std::chrono::steady_clock::now() - start)
                                     .count());
  recent_.DropFrozen();
  return {};
}

Status StoredSums::EmptyInbox(std::uint64_t number) {
  Database::WriteSet summed(database_);
  const auto remove = [&summed](std::string_view key, std::string_view) -> Status {
    summed.Delete(Table::kInbox, key);
    return {};
  };
  FIELDCOST_TRY(database_.ForEach(Table::kInbox, NumberKey(inbox_begin_), nullptr, remove,
                                  NumberKey(number + 1)));
  kept_.RemovePending(number, summed);
  FIELDCOST_TRY(database_.Write(summed));
  inbox_begin_ = number + 1;
  inbox_left_ = false;
  return {};
}

}  // namespace fieldcost::store
