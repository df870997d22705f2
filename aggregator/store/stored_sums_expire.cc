// Removes the rows of expired weeks: the part of StoredSums about retention.
#include <algorithm>

#include "aggregator/store/store_limits.h"
#include "aggregator/store/store_row_codec.h"
#include "aggregator/store/stored_sums.h"
#include "common/base/check.h"

namespace fieldcost::store {
namespace {

// The week below which all rows have been removed.
constexpr char kRowsExpiredKey[] = "rows_expired";

}  // namespace

// The expired rows among some.
struct StoredSums::ExpiryStep {
  std::vector<std::string> expired;  // keys, ascending
  Totals removed;
  bool saturated = false;
};

Result<Totals> StoredSums::TotalsWithout(const std::vector<std::string>& ascending_keys) const {
  Totals sums;
  sums.batches = totals_.batches;
  CompactRow row;
  const auto add = [&](std::string_view key, std::string_view value) -> Status {
    if (std::binary_search(ascending_keys.begin(), ascending_keys.end(), key)) return {};
    FIELDCOST_TRY(DecodeRowValue(value, row));
    sums.AddRow(row);
    return {};
  };
  FIELDCOST_TRY(database_.ForEach(Table::kRows, "", nullptr, add));
  return sums;
}

Result<std::string> StoredSums::FindExpired(std::uint32_t first_week, const std::string& next,
                                            ExpiryStep& step) const {
  CompactRow row;
  const auto examine = [&](std::string_view key, std::string_view value) -> Status {
    if (WeekOfRowKey(key) >= first_week) return {};
    FIELDCOST_TRY(DecodeRowValue(value, row));
    step.removed.AddRow(row);
    step.saturated = step.saturated || row.saturated;
    step.expired.emplace_back(key);
    return {};
  };
  return database_.ForSome(Table::kRows, next, kExpiryStepEntries, examine);
}

Status StoredSums::ExpireRows(std::uint32_t first_week, std::uint64_t& removed_rows) {
  FIELDCOST_ASSIGN(const std::uint64_t done, ReadMetaNumber(database_, kRowsExpiredKey));
  if (done >= first_week) return {};
  bool first_step = true;
  for (std::string next; first_step || !next.empty();) {
    // 1. Subtract what was withdrawn under the old bounds while the rows exist. Since other threads
    //    may not get the lock between two steps, this also makes any checkpoint that becomes due
    //    meanwhile.
    const LevelLock lock(checkpoint_mutex_, lock_order::kCheckpoint);
    if (first_step || recent_.IsCheckpointDue()) FIELDCOST_TRY(CheckpointLocked());
    first_step = false;
    // 2. Examine some rows, and collect those that have expired.
    ExpiryStep step;
    FIELDCOST_ASSIGN(next, FindExpired(first_week, next, step));
    // 3. Subtract them from the totals. For a saturated row, its part of the totals is unknown.
    Totals left = totals_;
    left.Subtract(step.removed);
    if (step.saturated) {
      FIELDCOST_ASSIGN(left, TotalsWithout(step.expired));
    }
    FIELDCOST_CHECK(left.batches == totals_.batches);
    // 4. Delete them, with the new totals, in one write.
    Database::WriteSet changes(database_);
    for (const std::string& key : step.expired) changes.Delete(Table::kRows, key);
    if (!step.expired.empty()) changes.Put(Table::kProgress, kTotalsKey, left.Encode());
    if (next.empty()) changes.Put(Table::kMeta, kRowsExpiredKey, NumberKey(first_week));
    if (step.expired.empty() && !next.empty()) continue;
    FIELDCOST_TRY(database_.Write(changes));
    totals_ = left;
    removed_rows += step.expired.size();
  }
  return {};
}

}  // namespace fieldcost::store
