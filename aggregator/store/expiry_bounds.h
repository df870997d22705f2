#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "aggregator/store/acceptance.h"
#include "aggregator/store/database.h"
#include "aggregator/store/lock_order.h"
#include "common/base/result.h"

namespace fieldcost::store {

// The bounds below which weeks and epochs have expired, and the rules that follow from them.
// Neither bound ever decreases. Thread-safe.
class ExpiryBounds {
 public:
  // `database` must outlive this object.
  explicit ExpiryBounds(Database& database) : database_(database) {}

  // REQUIRES: no other thread uses this object.
  Status Load();

  // The first week in `view`.
  static Result<std::uint32_t> FirstWeekIn(const Database& database, const Database::View* view);

  std::uint32_t first_week() const { return first_week_; }
  std::uint64_t first_epoch() const { return first_epoch_; }

  // Raises the bounds durably; ignores a lower one. Batches that are being accepted may still be of
  // an expired epoch. REQUIRES: no withdrawal is in progress.
  Status Raise(std::uint32_t week, std::uint64_t epoch) FIELDCOST_REQUIRES(lock_order::kWithdrawal);

  Status CheckEpoch(wire::Epoch epoch) const;  // kInvalidArgument if it has expired
  // Returns the accepted rows of weeks that have not expired.
  Result<std::string> WithoutExpiredRows(std::string_view accepted_rows) const;
  // Withdraws a batch that the ledger has forgotten, since its epoch has expired.
  Result<WithdrawResult> WithdrawForgotten(const Withdrawal& withdrawal) const;

 private:
  Database& database_;
  // Changed by Load() and Raise() only, so by one thread at a time.
  std::atomic<std::uint32_t> first_week_{0};
  std::atomic<std::uint64_t> first_epoch_{0};
};

}  // namespace fieldcost::store
