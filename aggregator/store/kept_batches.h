#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aggregator/store/database.h"
#include "aggregator/store/lock_order.h"
#include "aggregator/store/store_parts.h"
#include "common/base/mutex.h"
#include "common/base/result.h"

namespace fieldcost::store {

// The batches in the sums that are kept as received, until they are withdrawn or their epoch is
// forgotten; kept.h has the keys. Opening replays batches that are not yet in the rows, so a
// withdrawn batch is removed together with the checkpoint that subtracts it: until then its removal
// is pending, in memory as in the inbox.
//
// Thread-safe. While it holds its lock, it acquires no other.
class KeptBatches {
 public:
  // `database` must outlive this object.
  explicit KeptBatches(Database& database) : database_(database) {}

  // Reads from which epoch on batches are kept; the caller adds the pending removals. REQUIRES: no
  // other thread uses this object.
  Status Load();

  // Adds the record of a delivery with this number to the kept batches, or to the inbox if batches
  // of its epoch are not kept.
  void PutAddition(const Addition& addition, std::string_view head_key, std::uint64_t number,
                   Database::WriteSet& changes) const FIELDCOST_REQUIRES(lock_order::kAgent);

  // Nullopt if the batch is not kept.
  Result<std::optional<std::uint64_t>> NumberOf(std::string_view head_key,
                                                std::uint64_t sequence) const;
  // Returns rows as AcceptedRows::bytes(); nullopt if the batch is not kept.
  Result<std::optional<std::string>> RowsOf(std::string_view head_key,
                                            std::uint64_t sequence) const;

  void AddPending(const PendingRemoval& removal) FIELDCOST_EXCLUDES(mutex_);
  // Moves to `changes` the removals that are pending for withdrawals with numbers up to this one.
  // REQUIRES: these withdrawals are in the rows. If writing `changes` fails, the store has failed.
  void RemovePending(std::uint64_t number, Database::WriteSet& changes) FIELDCOST_EXCLUDES(mutex_);

  // Whether the kept batches of all earlier epochs have been removed.
  Result<bool> HasForgotten(std::uint64_t epoch) const;
  // Durably keeps no more batches of earlier epochs. Threads that hold the lock of an agent may
  // still be keeping one.
  Status RaiseFirstEpoch(std::uint64_t epoch) FIELDCOST_REQUIRES(lock_order::kExpiry);
  // Durably removes the kept batches of earlier epochs, in steps, and returns their number.
  // REQUIRES: RaiseFirstEpoch(epoch); no thread is still keeping one; a checkpoint has been made
  // since, because batches that are not yet in the rows are needed after a restart.
  Result<std::uint64_t> Forget(std::uint64_t epoch)
      FIELDCOST_REQUIRES(lock_order::kExpiry, lock_order::kBackup);

 private:
  Database& database_;
  std::atomic<std::uint64_t> first_epoch_{0};  // batches of earlier epochs are not kept

  Mutex mutex_;
  std::vector<PendingRemoval> pending_ FIELDCOST_GUARDED_BY(mutex_);
};

}  // namespace fieldcost::store
