#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>

#include "aggregator/store/accepted_rows.h"
#include "aggregator/store/compact_row.h"
#include "aggregator/store/database.h"
#include "aggregator/store/dirty_table.h"
#include "aggregator/store/store_options.h"
#include "aggregator/store/write_failure.h"
#include "common/base/mutex.h"
#include "common/base/result.h"

namespace fieldcost::store {

// The rows that the stored ones lack: dirty rows, and those that a checkpoint is writing (frozen).
// A row's newest sums are stored + frozen + dirty, where `stored` is as of the moment at which the
// frozen rows were set aside, so that it makes no difference whether they have been written.
//
// Thread-safe. While it holds its lock, it acquires no other.
class RecentRows {
 public:
  // The arguments must outlive this object.
  RecentRows(Database& database, const StoreOptions& options, const WriteFailure& failure)
      : database_(database), options_(options), failure_(failure) {}

  void Add(const AcceptedRows& rows) FIELDCOST_EXCLUDES(mutex_);
  // As DirtyTable::AddRecord().
  Status AddRecord(std::string_view record) FIELDCOST_EXCLUDES(mutex_);

  // Waits until the rows take less than kDirtyOverdraft times the memory that starts a checkpoint,
  // or the store has failed. Does not wait if no thread makes checkpoints.
  void AwaitMemory() FIELDCOST_EXCLUDES(mutex_);
  // Whether there are so many dirty rows that they should be written.
  bool IsCheckpointDue() const FIELDCOST_EXCLUDES(mutex_);
  // Ends AwaitCheckpoint() if a checkpoint is due.
  void WakeIfDue() FIELDCOST_EXCLUDES(mutex_);
  // Waits until a checkpoint is due, at most StoreOptions::checkpoint_seconds. False after Stop()
  // or a failure: no more checkpoints are to be made.
  bool AwaitCheckpoint() FIELDCOST_EXCLUDES(mutex_);
  void Stop() FIELDCOST_EXCLUDES(mutex_);
  // Makes waiting threads check whether the store has failed.
  void WakeAll() FIELDCOST_EXCLUDES(mutex_);

  // Rows that are set aside, and the stored rows without them.
  struct Frozen {
    std::shared_ptr<const DirtyTable> rows;  // null: there were none
    std::shared_ptr<Database::View> stored;
  };
  // Sets the dirty rows aside, unless the store has failed. REQUIRES: the rows set aside before are
  // dropped; no thread is between writing a record and adding its rows.
  Frozen SetAside() FIELDCOST_EXCLUDES(mutex_);
  // The frozen rows are now part of the stored ones.
  void DropFrozen() FIELDCOST_EXCLUDES(mutex_);

  // Reads the newest sums of a row; `found` is false if it does not exist.
  Status Read(std::string_view key, CompactRow& sums, bool& found) const FIELDCOST_EXCLUDES(mutex_);
  // Visits the newest sums of every row: those that are stored, then those that are only dirty.
  // REQUIRES: nothing is frozen.
  using Visitor = std::function<Status(std::string_view key, const CompactRow& row)>;
  Status ForEachNewest(const Visitor& visit) const FIELDCOST_EXCLUDES(mutex_);

  // The totals of the dirty rows.
  Totals dirty_totals() const FIELDCOST_EXCLUDES(mutex_);
  // Of both tables.
  std::size_t row_count() const FIELDCOST_EXCLUDES(mutex_);
  std::size_t memory_bytes() const FIELDCOST_EXCLUDES(mutex_);

 private:
  bool IsDue() const FIELDCOST_REQUIRES(mutex_);
  std::size_t MemoryBytes() const FIELDCOST_REQUIRES(mutex_);

  Database& database_;
  const StoreOptions& options_;
  const WriteFailure& failure_;

  mutable Mutex mutex_;
  CondVar changed_;
  DirtyTable dirty_ FIELDCOST_GUARDED_BY(mutex_);
  Frozen frozen_ FIELDCOST_GUARDED_BY(mutex_);
  bool stopping_ FIELDCOST_GUARDED_BY(mutex_) = false;
};

}  // namespace fieldcost::store
