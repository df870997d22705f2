#include <chrono>
#include <utility>

#include "aggregator/store/store_state.h"
#include "common/base/log.h"

namespace fieldcost::store {
namespace {

// Puts the new value of every row of `table` into `changes`; a row of which nothing is left goes.
Status WriteRows(const Database& database, const Database::View* base, const DirtyTable& table,
                 Database::WriteSet& changes) {
  CompactRow sums;
  std::string value;
  return table.ForEach(
      [&](const std::string& key, const CompactRow* added, const CompactRow* removed) -> Status {
        FIELDCOST_ASSIGN(const auto stored, database.Get(Table::kRows, key, base));
        sums.Clear();
        if (stored) FIELDCOST_TRY(DecodeRowValue(*stored, sums));
        if (added != nullptr) sums.Add(*added);
        if (removed != nullptr) FIELDCOST_TRY(sums.Subtract(*removed));
        if (sums.buckets.empty()) {
          if (stored) changes.Delete(Table::kRows, key);
          return {};
        }
        value.clear();
        AppendRowValue(sums, value);
        changes.Put(Table::kRows, key, value);
        return {};
      });
}

}  // namespace

Status Store::Checkpoint() {
  const std::lock_guard lock(state_->checkpoint_mutex);
  return state_->CheckpointLocked();
}

Status Store::State::CheckpointLocked() {
  if (failed) return Fail(ErrorCode::kIo, "the store has failed; see the server's log");
  // With nobody inside the gate, every number given out so far is in the dirty table.
  gate.Close();
  const std::uint64_t number = last_number;
  {
    const std::lock_guard lock(table_mutex);
    if (!dirty.empty()) {
      std::swap(dirty, frozen);
      base = database->Freeze();
    }
  }
  gate.Open();
  if (frozen.empty()) return {};
  const auto start = std::chrono::steady_clock::now();
  if (options.on_checkpoint) options.on_checkpoint(CheckpointStage::kFrozen);

  Database::WriteSet changes(*database);
  if (Status status = WriteRows(*database, base.get(), frozen, changes); !status) {
    return Failed(status.error());
  }
  Totals new_totals = totals;
  new_totals.Add(frozen.totals());
  changes.Put(Table::kMeta, kAppliedKey, NumberKey(number));
  changes.Put(Table::kMeta, kTotalsKey, new_totals.Encode());
  changes.DeleteRange(Table::kInbox, NumberKey(applied + 1), NumberKey(number + 1));
  if (Status status = database->Write(changes); !status) return Failed(status.error());
  if (options.on_checkpoint) options.on_checkpoint(CheckpointStage::kWritten);

  applied = number;
  totals = new_totals;
  ++checkpoints;
  checkpoint_microseconds +=
      static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(
                                     std::chrono::steady_clock::now() - start)
                                     .count());
  DirtyTable written;  // ends after the lock: there is much to free
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

Status Store::Snapshot::ForEach(const Visitor& visit) const {
  stats::RowKey key;
  CompactRow row;
  return state_->database->ForEach(
      Table::kRows, "", state_->view.get(),
      [&](std::string_view key_bytes, std::string_view value) -> Status {
        FIELDCOST_TRY(DecodeRowKey(key_bytes, key));
        FIELDCOST_TRY(DecodeRowValue(value, row));
        return visit(key, row);
      });
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
