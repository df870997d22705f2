#include "aggregator/store/expiry_bounds.h"

#include <algorithm>
#include <optional>

#include "aggregator/store/store_parts.h"
#include "aggregator/store/store_row_codec.h"

namespace fieldcost::store {
namespace {

constexpr char kFirstWeekKey[] = "first_week";
constexpr char kFirstEpochKey[] = "first_epoch";

}  // namespace

Status ExpiryBounds::Load() {
  FIELDCOST_ASSIGN(const std::uint64_t week, ReadMetaNumber(database_, kFirstWeekKey));
  FIELDCOST_ASSIGN(first_epoch_, ReadMetaNumber(database_, kFirstEpochKey));
  first_week_ = static_cast<std::uint32_t>(week);
  return {};
}

Result<std::uint32_t> ExpiryBounds::FirstWeekIn(const Database& database,
                                                const Database::View* view) {
  FIELDCOST_ASSIGN(const std::uint64_t week, ReadMetaNumber(database, kFirstWeekKey, view));
  return static_cast<std::uint32_t>(week);
}

Status ExpiryBounds::Raise(std::uint32_t week, std::uint64_t epoch) {
  week = std::max<std::uint32_t>(week, first_week_);
  epoch = std::max<std::uint64_t>(epoch, first_epoch_);
  if (week == first_week_ && epoch == first_epoch_) return {};
  Database::WriteSet changes(database_);
  changes.Put(Table::kMeta, kFirstWeekKey, NumberKey(week));
  changes.Put(Table::kMeta, kFirstEpochKey, NumberKey(epoch));
  FIELDCOST_TRY(database_.Write(changes));
  first_week_ = week;
  first_epoch_ = epoch;
  return {};
}

Status ExpiryBounds::CheckEpoch(wire::Epoch epoch) const {
  if (epoch.value() >= first_epoch_) return {};
  return Fail(ErrorCode::kInvalidArgument, "epoch {} has expired; {} is the first that is accepted",
              epoch.value(), first_epoch());
}

Result<std::string> ExpiryBounds::WithoutExpiredRows(std::string_view accepted_rows) const {
  const std::uint32_t bound = first_week_;
  std::string kept(accepted_rows.substr(0, 1));
  std::string value;
  bool all = true;
  FIELDCOST_TRY(ForEachAcceptedRow(accepted_rows, [&](std::string_view key, const CompactRow& row) {
    if (WeekOfRowKey(key) < bound) {
      all = false;
      return;
    }
    value.clear();
    AppendRowValue(row, value);
    AppendVarint(0, kept);
    AppendVarint(key.size(), kept);
    kept += key;
    AppendVarint(value.size(), kept);
    kept += value;
  }));
  return all ? std::string(accepted_rows) : std::move(kept);
}

Result<WithdrawResult> ExpiryBounds::WithdrawForgotten(const Withdrawal& withdrawal) const {
  FIELDCOST_ASSIGN(const AcceptedRows* const rows, withdrawal.rows(std::nullopt));
  bool all_expired = true;
  FIELDCOST_TRY(ForEachAcceptedRow(rows->bytes(), [&](std::string_view key, const CompactRow&) {
    all_expired = all_expired && WeekOfRowKey(key) < first_week_;
  }));
  if (!all_expired) {
    return Fail(ErrorCode::kNotFound,
                "epoch {} has expired: it is not known any more whether the batch was delivered",
                withdrawal.epoch.value());
  }
  return WithdrawResult{.withdrawn_rows = rows->row_count(), .kind = WithdrawalKind::kRepeated};
}

}  // namespace fieldcost::store
