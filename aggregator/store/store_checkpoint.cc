// Writes the dirty table into the rows and reads rows as snapshots: the part of Store about rows.
#include <algorithm>
#include <chrono>
#include <utility>

#include "aggregator/store/store_state.h"
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

std::size_t SizeOfApi(std::string_view row_key) {
  constexpr int kTexts = 5;
  std::size_t size = 0;
  for (int text = 0; text < kTexts && size < row_key.size(); ++text) {
    size = std::min(row_key.find('\0', size), row_key.size() - 1) + 1;
  }
  return size;
}

Status Store::Checkpoint() {
  const std::lock_guard lock(state_->checkpoint_mutex);
  FIELDCOST_TRY(state_->CheckpointLocked());
  const Status flushed = state_->database->Flush();
  return flushed ? flushed : state_->Failed(flushed.error());
}

std::uint64_t Store::State::SetDirtyAside() {
  // While no thread is inside the gate, all numbers assigned so far are in the dirty table.
  gate.Close();
  const std::uint64_t number = last_number;
  {
    const std::lock_guard lock(table_mutex);
    if (!failed && !dirty.empty()) {
      std::swap(dirty, frozen);
      base = database->Freeze();
    }
  }
  gate.Open();
  return number;
}

Status Store::State::CheckpointLocked() {
  // 1. Set aside the rows to be written.
  if (failed) return StoreFailed();
  const std::uint64_t number = SetDirtyAside();
  if (failed) return StoreFailed();
  if (frozen.empty()) {
    // A backup or a crash may have left entries in the inbox that are already in the sums.
    if (!inbox_left || backing_up) return {};
    const Status emptied = EmptyInbox(applied);
    return emptied ? emptied : Failed(emptied.error());
  }
  const auto start = std::chrono::steady_clock::now();
  if (options.on_checkpoint) options.on_checkpoint(CheckpointStage::kFrozen);

  // 2. Write the new rows, totals and `applied`, and adopt them in one step.
  Totals new_totals = totals;
  new_totals.Add(frozen.totals());
  const auto write = [&]() -> Status {
    Database::SortedSet changes(*database);
    FIELDCOST_TRY(WriteRows(*database, base.get(), frozen, changes));
    FIELDCOST_TRY(changes.Put(Table::kProgress, kAppliedKey, NumberKey(number)));
    FIELDCOST_TRY(changes.Put(Table::kProgress, kTotalsKey, new_totals.Encode()));
    // First flush what the new rows depend on. Otherwise, if the log lost its end, it would be
    // older than the rows, and the lost batches would arrive again and be counted twice.
    FIELDCOST_TRY(database->Flush());
    return database->Adopt(changes);
  };
  if (Status status = write(); !status) return Failed(status.error());
  if (options.on_checkpoint) options.on_checkpoint(CheckpointStage::kWritten);

  // 3. Empty the inbox: its entries up to `number` are obsolete, whether removed or not. A backup
  //    in progress may have the previous list of files, but will get the current log.
  inbox_left = true;
  if (!backing_up) {
    if (Status status = EmptyInbox(number); !status) return Failed(status.error());
  }
  // 4. Make the new rows visible to readers.
  applied = number;
  totals = new_totals;
  ++checkpoints;
  checkpoint_microseconds +=
      static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(
                                     std::chrono::steady_clock::now() - start)
                                     .count());
  DirtyTable written;  // destroyed after the lock is released, since freeing it takes long
  const std::lock_guard lock(table_mutex);
  std::swap(frozen, written);
  base.reset();
  table_changed.notify_all();
  return {};
}

void Store::State::RunCheckpointer() {
  std::unique_lock lock(table_mutex);
  while (!stopping && !failed) {
    table_changed.wait_for(lock, std::chrono::seconds(options.checkpoint_seconds),
                           [this] { return stopping || failed || WantsCheckpoint(); });
    if (stopping || failed) return;
    lock.unlock();
    {
      const std::lock_guard checkpoint_lock(checkpoint_mutex);
      if (Status status = CheckpointLocked(); !status) {
        LogError("checkpoint failed: {}", status.error().message);
      }
    }
    lock.lock();
  }
}

struct Store::Snapshot::State {
  const Database* database = nullptr;
  std::shared_ptr<Database::View> view;
  std::uint64_t sequence = 0;
  Totals totals;
};

Store::Snapshot::Snapshot(std::unique_ptr<State> state) : state_(std::move(state)) {}
Store::Snapshot::Snapshot(Snapshot&&) noexcept = default;
Store::Snapshot& Store::Snapshot::operator=(Snapshot&&) noexcept = default;
Store::Snapshot::~Snapshot() = default;
std::uint64_t Store::Snapshot::sequence() const { return state_->sequence; }
const Totals& Store::Snapshot::totals() const { return state_->totals; }

Status Store::Snapshot::ForEach(const Visitor& visit, const RowRange& range) const {
  stats::RowKey key;
  CompactRow row;
  return state_->database->ForEach(
      Table::kRows, range.begin, state_->view.get(),
      [&](std::string_view key_bytes, std::string_view value) -> Status {
        FIELDCOST_TRY(DecodeRowKey(key_bytes, key));
        FIELDCOST_TRY(DecodeRowValue(value, row));
        return visit(key, row);
      },
      range.end);
}

std::vector<Store::Snapshot::RowRange> Store::Snapshot::Split(std::size_t parts) const {
  FIELDCOST_CHECK(parts > 0);
  std::vector<RowRange> ranges(1);
  for (const std::string& key : state_->database->Cuts(Table::kRows, parts)) {
    // Cut before the first row of the API, so that its rows stay together.
    std::string api(key.substr(0, SizeOfApi(key)));
    if (api <= ranges.back().begin) continue;
    ranges.back().end = api;
    ranges.push_back({.begin = std::move(api), .end = {}});
  }
  return ranges;
}

Result<Store::Snapshot> Store::TakeSnapshot() {
  const std::lock_guard lock(state_->checkpoint_mutex);
  FIELDCOST_TRY(state_->CheckpointLocked());
  auto snapshot = std::make_unique<Snapshot::State>();
  snapshot->database = state_->database.get();
  snapshot->view = state_->database->Freeze();
  snapshot->sequence = state_->applied;
  snapshot->totals = state_->totals;
  return Snapshot(std::move(snapshot));
}

}  // namespace fieldcost::store
