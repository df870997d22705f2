#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "aggregator/store/accepted_rows.h"
#include "aggregator/store/batch_stages.h"
#include "aggregator/store/database.h"
#include "aggregator/store/dirty_table.h"
#include "aggregator/store/gate.h"
#include "aggregator/store/kept_batches.h"
#include "aggregator/store/lock_order.h"
#include "aggregator/store/published_units.h"
#include "aggregator/store/recent_rows.h"
#include "aggregator/store/store_options.h"
#include "aggregator/store/store_parts.h"
#include "aggregator/store/store_reports.h"
#include "aggregator/store/write_failure.h"
#include "common/base/mutex.h"
#include "common/base/result.h"

namespace fieldcost::store {

// The sums, from the write of a numbered record to the rows on disk; SUMS.md explains why they are
// exact. A commit writes records under the next numbers and adds their rows to the recent ones. A
// checkpoint adds these to the stored rows, with the totals and the greatest number among them.
//
// Invariants, outside a checkpoint:
//   - the stored rows and their totals contain exactly the records up to `applied_`;
//   - the recent rows contain exactly those above `applied_`, up to `last_number_`, except those
//     of commits in progress (inside the gate);
//   - the inbox is empty below `inbox_begin_`.
// While a checkpoint is in progress, the frozen rows contain the records up to the number that it
// will apply. After a failure, none of this is known, and nothing is written.
//
// Thread-safe. A write of a commit or checkpoint that fails is recorded in the WriteFailure.
class StoredSums {
 public:
  // The arguments must outlive this object.
  StoredSums(Database& database, const StoreOptions& options, WriteFailure& failure,
             KeptBatches& kept);
  ~StoredSums();  // calls StopCheckpoints()
  StoredSums(const StoredSums&) = delete;
  StoredSums& operator=(const StoredSums&) = delete;

  // Reads which records the stored rows contain.
  Status LoadProgress() FIELDCOST_EXCLUDES(lock_order::kCheckpoint, lock_order::kCommit);
  // Adds the records that the stored rows lack to the recent ones, and the pending removals to the
  // kept batches. Makes checkpoints if there are many, unless `read_only`. REQUIRES:
  // LoadProgress(); no commit has been made.
  Status Replay(bool read_only) FIELDCOST_EXCLUDES(lock_order::kCheckpoint, lock_order::kCommit);
  // Starts the thread that makes checkpoints, if there is to be one. REQUIRES: not called before.
  void StartCheckpoints();
  void StopCheckpoints();

  // Waits until there is room for more recent rows, and writes the changes, durably on return.
  Status Commit(Database::WriteSet& changes) FIELDCOST_EXCLUDES(lock_order::kCommit);
  // Writes the changes together with the additions of a delivery; the last addition has these rows.
  // Ends the stages kLog and kFold if `stages` is not null. REQUIRES: there is at least one
  // addition.
  Status CommitAdditions(Database::WriteSet& changes, std::string_view head_key,
                         std::span<const Addition> additions, const AcceptedRows& rows,
                         StageTimes* stages) FIELDCOST_REQUIRES(lock_order::kAgent)
      FIELDCOST_EXCLUDES(lock_order::kCommit);
  // Writes the changes together with a withdrawal's record and its marks for these units, and
  // removes the batch with this number once the rows lack it. REQUIRES: every row contains what the
  // record subtracts.
  Status CommitWithdrawal(Database::WriteSet& changes, std::string_view withdrawn_record,
                          std::optional<std::uint64_t> kept_number,
                          std::span<const UnitWeeks> units)
      FIELDCOST_REQUIRES(lock_order::kAgent, lock_order::kWithdrawal)
          FIELDCOST_EXCLUDES(lock_order::kCommit);

  // Reads the newest sums of a row; `found` is false if it does not exist.
  Status ReadRow(std::string_view key, CompactRow& sums, bool& found) const {
    return recent_.Read(key, sums, found);
  }
  // As RecentRows::ForEachNewest(). REQUIRES: no thread makes checkpoints.
  Status ForEachNewest(const RecentRows::Visitor& visit) const {
    return recent_.ForEachNewest(visit);
  }
  // The totals of all rows, stored and recent. REQUIRES: as ForEachNewest().
  Totals NewestTotals() const FIELDCOST_EXCLUDES(lock_order::kCheckpoint);

  // Adds all recent rows to the stored ones.
  Status Checkpoint() FIELDCOST_EXCLUDES(lock_order::kCheckpoint, lock_order::kCommit);
  // Makes a checkpoint and writes the log to table files.
  Status CheckpointAndFlush() FIELDCOST_EXCLUDES(lock_order::kCheckpoint, lock_order::kCommit);

  // All tables at one moment.
  struct Moment {
    std::shared_ptr<Database::View> view;
    std::uint64_t number = 0;  // the greatest in the stored rows
    Totals totals;
  };
  // Makes a checkpoint and returns the moment after it; the totals are those of the stored rows.
  Result<Moment> Snapshot() FIELDCOST_EXCLUDES(lock_order::kCheckpoint, lock_order::kCommit);
  // A moment between two commits; the totals are those of all rows, stored and recent.
  Result<Moment> MomentBetweenCommits()
      FIELDCOST_EXCLUDES(lock_order::kCheckpoint, lock_order::kCommit);

  // Removes the stored rows of earlier weeks and their part of the totals, in steps that each leave
  // a consistent store; adds their number to `removed_rows`.
  Status ExpireRows(std::uint32_t first_week, std::uint64_t& removed_rows)
      FIELDCOST_REQUIRES(lock_order::kExpiry)
          FIELDCOST_EXCLUDES(lock_order::kCheckpoint, lock_order::kCommit);

  // While a backup is made, checkpoints leave the inbox as it is, because the backup may have the
  // list of files before a checkpoint, and the log after it.
  void SetBackingUp(bool value) FIELDCOST_REQUIRES(lock_order::kBackup)
      FIELDCOST_EXCLUDES(lock_order::kCheckpoint, lock_order::kCommit);

  // The greatest number that was assigned.
  std::uint64_t last_number() const { return last_number_; }
  void AddTo(StoreGauges& gauges) const;

 private:
  class RecordAdder;
  struct ExpiryStep;
  Status NoteInbox() FIELDCOST_REQUIRES(checkpoint_mutex_);
  // Writes the changes, unless the store has failed.
  Status Write(Database::WriteSet& changes) FIELDCOST_REQUIRES_SHARED(gate_);
  // Ends a commit with this outcome.
  Status Finish(const Status& status) FIELDCOST_REQUIRES_SHARED(gate_);
  // Sets the dirty rows aside and returns the greatest number in them, or in the stored rows.
  std::uint64_t SetAside(RecentRows::Frozen& frozen)
      FIELDCOST_REQUIRES(checkpoint_mutex_, lock_order::kCheckpoint);
  Status CheckpointLocked() FIELDCOST_REQUIRES(checkpoint_mutex_, lock_order::kCheckpoint);
  // Adopts the frozen rows, with these totals, as those of the records up to `number`.
  Status WriteFrozen(const RecentRows::Frozen& frozen, std::uint64_t number,
                     const Totals& new_totals) FIELDCOST_REQUIRES(checkpoint_mutex_);
  // Removes the inbox entries up to this number. REQUIRES: these are in the stored rows.
  Status EmptyInbox(std::uint64_t number) FIELDCOST_REQUIRES(checkpoint_mutex_);
  void RunCheckpoints();
  // Examines some rows from `next` on, and finds the expired ones; returns where to continue.
  Result<std::string> FindExpired(std::uint32_t first_week, const std::string& next,
                                  ExpiryStep& step) const;
  // The totals of all stored rows without these.
  Result<Totals> TotalsWithout(const std::vector<std::string>& ascending_keys) const
      FIELDCOST_REQUIRES(checkpoint_mutex_);

  Database& database_;
  const StoreOptions& options_;
  WriteFailure& failure_;
  KeptBatches& kept_;

  // Held during a checkpoint, and while the stored rows change otherwise.
  mutable Mutex checkpoint_mutex_ FIELDCOST_ACQUIRED_BEFORE(gate_);
  std::uint64_t applied_ FIELDCOST_GUARDED_BY(checkpoint_mutex_) = 0;
  std::uint64_t inbox_begin_ FIELDCOST_GUARDED_BY(checkpoint_mutex_) = 0;
  Totals totals_ FIELDCOST_GUARDED_BY(checkpoint_mutex_);  // of the stored rows
  // The inbox has entries that are in the stored rows.
  bool inbox_left_ FIELDCOST_GUARDED_BY(checkpoint_mutex_) = false;
  bool backing_up_ FIELDCOST_GUARDED_BY(checkpoint_mutex_) = false;

  // Commits are inside; closed while the dirty rows are set aside, so that these have all records
  // up to `last_number_`.
  Gate gate_;
  std::atomic<std::uint64_t> last_number_{0};
  RecentRows recent_;

  std::atomic<std::uint64_t> checkpoints_{0};
  std::atomic<std::uint64_t> checkpoint_microseconds_{0};
  std::thread checkpointer_;
};

}  // namespace fieldcost::store
