#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "aggregator/store/database.h"
#include "aggregator/store/lock_order.h"
#include "aggregator/store/write_failure.h"
#include "common/base/mutex.h"
#include "common/base/result.h"

namespace fieldcost::store {

// A unit that a withdrawal subtracts rows of.
struct UnitWeeks {
  std::string unit_key;     // as AppendUnitKey()
  std::uint16_t weeks = 0;  // of these rows, bits as in PublishedCut
};

// The table of published units: what publications have written into it, and the marks that
// withdrawals leave there for the next one. PUBLISHED.md explains why no mark is missed.
//
// Thread-safe. While it holds its lock, it acquires no other.
class PublishedUnits {
 public:
  // The arguments must outlive this object.
  PublishedUnits(Database& database, WriteFailure& failure)
      : database_(database), failure_(failure) {}

  // Looks whether there are records. REQUIRES: no other thread uses this object.
  Status Load();

  // Returns the units of these accepted rows that a withdrawal has to mark: those with a record,
  // and all of them while a publication is in progress, which may give them one.
  Result<std::vector<UnitWeeks>> UnitsToMark(std::string_view accepted_rows) const
      FIELDCOST_REQUIRES(lock_order::kWithdrawal);

  // Begins a publication. Its snapshot is taken afterwards, so each withdrawal is in the snapshot,
  // or marks all of its units. kUnavailable: another one is in progress.
  Status Begin() FIELDCOST_REQUIRES(lock_order::kWithdrawal);
  // Ends it, after Write() or without.
  void End() { in_progress_ = false; }

  // The moment that a publication was made from.
  struct Moment {
    const Database::View* view = nullptr;
    std::uint64_t number = 0;      // the greatest in its rows
    std::uint32_t first_week = 0;  // of the weeks that have not expired
  };
  // Whether the store was restored since the last publication. Null: now.
  Result<bool> MustSettle(const Database::View* view) const;
  // In one durable step: applies the changes of records in `parts`, removes all marks that the
  // moment has, notes that the publication has settled, and stores these named numbers. REQUIRES:
  // Begin(). An error after which it is unknown what survives is recorded in the WriteFailure.
  Status Write(const Moment& moment, std::span<Database::SortedSet* const> parts,
               const std::map<std::string, std::uint64_t>& numbers) FIELDCOST_EXCLUDES(mutex_);

  // Durably removes records and marks of quarters that have expired as a whole, in steps.
  Status Expire(std::uint32_t first_week) FIELDCOST_REQUIRES(lock_order::kExpiry)
      FIELDCOST_EXCLUDES(mutex_);

 private:
  Database& database_;
  WriteFailure& failure_;
  std::atomic<bool> in_progress_{false};  // a publication
  std::atomic<bool> has_records_{false};  // perhaps; false: none
  Mutex mutex_;                           // one Write() or Expire() at a time
};

}  // namespace fieldcost::store
