#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "aggregator/store/database.h"
#include "aggregator/store/delivery_ledger.h"
#include "aggregator/store/expiry_bounds.h"
#include "aggregator/store/held_batches.h"
#include "aggregator/store/kept_batches.h"
#include "aggregator/store/lock_order.h"
#include "aggregator/store/published_units.h"
#include "aggregator/store/store.h"
#include "aggregator/store/store_parts.h"
#include "aggregator/store/stored_sums.h"
#include "aggregator/store/verify_ledger.h"
#include "aggregator/store/verify_published.h"
#include "aggregator/store/write_failure.h"
#include "common/base/file.h"
#include "common/base/mutex.h"

namespace fieldcost::store {

// The parts of a store, and what concerns several of them; for the sources of Store only. Each part
// owns its data and its locks; lock_order.h has the order of all locks.
struct Store::State {
  State(StoreOptions options_of_store, UniqueFd lock, std::unique_ptr<Database> opened)
      : options(std::move(options_of_store)),
        directory_lock(std::move(lock)),
        database(std::move(opened)) {}

  const StoreOptions options;
  UniqueFd directory_lock;
  std::unique_ptr<Database> database;
  WriteFailure failure;
  ExpiryBounds bounds{*database};
  DeliveryLedger ledger{*database};
  KeptBatches kept{*database};
  StoredSums sums{*database, options, failure, kept};
  HeldBatches held{*database, options, ledger, bounds, sums};
  PublishedUnits published{*database, failure};

  Mutex expire_mutex;      // lock_order::kExpiry
  Mutex backup_mutex;      // lock_order::kBackup
  Mutex withdraw_mutex;    // lock_order::kWithdrawal
  Mutex invitation_mutex;  // lock_order::kInvitation
  Mutex bind_mutex;        // one Bind() at a time

  // Opens for reading: nothing on the disk is changed, and the rows in the log stay in memory.
  static Result<std::unique_ptr<State>> OpenToRead(StoreOptions options);
  // Reads the state of all parts, and adds the log to the sums.
  Status Load(bool read_only);

  // Checks all tables except the rows, in `view`, which must have the totals `expected`.
  Result<LedgerSums> CheckTables(const Database::View* view, const Totals& expected,
                                 VerifyReport& report) const;
  Status CheckStopped(VerifyReport& report) const;  // all tables
  // Checks the published units in `view`, or now, against rows that the caller adds.
  Result<PublishedCheck> CheckOfPublished(const std::shared_ptr<Database::View>& view,
                                          VerifyReport& report) const;

  // Subtracts the rows of a delivered batch, and removes everything stored about it.
  Result<WithdrawResult> SubtractDelivered(const std::string& head_key, std::uint64_t sequence,
                                           const std::string& accepted_rows,
                                           Database::WriteSet& changes)
      FIELDCOST_REQUIRES(lock_order::kAgent)
          FIELDCOST_EXCLUDES(lock_order::kHeld, lock_order::kWithdrawal, lock_order::kCommit);
  // Whether every stored row contains its part of these rows, and is possible without it.
  Status CheckWithdrawable(std::string_view accepted_rows) const
      FIELDCOST_REQUIRES(lock_order::kWithdrawal);

  // Forgets the kept batches of earlier epochs, and returns their number.
  Result<std::uint64_t> ForgetBatches(std::uint64_t epoch)
      FIELDCOST_REQUIRES(lock_order::kExpiry, lock_order::kBackup)
          FIELDCOST_EXCLUDES(lock_order::kAgent, lock_order::kCheckpoint, lock_order::kCommit);
  // On return, no withdrawal or acceptance under the old bounds is in progress.
  Status RaiseBounds(std::uint32_t week, std::uint64_t epoch)
      FIELDCOST_REQUIRES(lock_order::kExpiry, lock_order::kBackup)
          FIELDCOST_EXCLUDES(lock_order::kAgent, lock_order::kWithdrawal);
};

struct Store::Snapshot::State {
  const Database* database = nullptr;
  std::shared_ptr<Database::View> view;
  std::uint64_t sequence = 0;
  Totals totals;
  std::uint32_t first_week = 0;
};

}  // namespace fieldcost::store
