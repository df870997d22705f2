// Removes the rows of old weeks and the ledgers of old epochs: the part of Store about retention.
#include <algorithm>
#include <map>

#include "aggregator/store/store_state.h"
#include "common/base/byte_order.h"

namespace fieldcost::store {
namespace {

constexpr char kFirstWeekKey[] = "first_week";
constexpr char kFirstEpochKey[] = "first_epoch";
// Bounds below which everything has been removed.
constexpr char kRowsExpiredKey[] = "rows_expired";
constexpr char kEpochsExpiredKey[] = "epochs_expired";

constexpr std::size_t kWeekBytes = 4;
constexpr std::size_t kHeadKeyBytes = kAgentIdBytes + 8;

}  // namespace

Result<std::uint64_t> Store::State::ReadMetaNumber(std::string_view key) const {
  FIELDCOST_ASSIGN(const auto bytes, database->Get(Table::kMeta, key));
  if (!bytes) return std::uint64_t{0};
  if (bytes->size() != 8) return Fail(ErrorCode::kCorrupt, "the stored {} is malformed", key);
  return ReadBigEndian(*bytes);
}

std::uint32_t WeekOfRowKey(std::string_view row_key) {
  if (row_key.size() < kWeekBytes) return 0;
  return static_cast<std::uint32_t>(ReadBigEndian(row_key.substr(row_key.size() - kWeekBytes)));
}

Status Store::State::LoadBounds() {
  FIELDCOST_ASSIGN(const std::uint64_t week, ReadMetaNumber(kFirstWeekKey));
  FIELDCOST_ASSIGN(first_epoch, ReadMetaNumber(kFirstEpochKey));
  first_week = static_cast<std::uint32_t>(week);
  return {};
}

// On return, no withdrawal or acceptance under the old bounds is in progress.
Status Store::State::RaiseBounds(std::uint32_t week, std::uint64_t epoch) {
  {
    const std::lock_guard withdraw_lock(withdraw_mutex);
    week = std::max<std::uint32_t>(week, first_week);
    epoch = std::max<std::uint64_t>(epoch, first_epoch);
    if (week != first_week || epoch != first_epoch) {
      Database::WriteSet changes(*database);
      changes.Put(Table::kMeta, kFirstWeekKey, NumberKey(week));
      changes.Put(Table::kMeta, kFirstEpochKey, NumberKey(epoch));
      FIELDCOST_TRY(database->Write(changes));
      first_week = week;
      first_epoch = epoch;
    }
  }
  for (std::mutex& stripe : stripes) const std::lock_guard lock(stripe);
  return {};
}

Result<Totals> Store::State::TotalsWithout(const std::vector<std::string>& ascending_keys) const {
  Totals sums;
  sums.batches = totals.batches;
  CompactRow row;
  const auto add = [&](std::string_view key, std::string_view value) -> Status {
    if (std::binary_search(ascending_keys.begin(), ascending_keys.end(), key)) return {};
    FIELDCOST_TRY(DecodeRowValue(value, row));
    sums.AddRow(row);
    return {};
  };
  FIELDCOST_TRY(database->ForEach(Table::kRows, "", nullptr, add));
  return sums;
}

Status Store::State::ExpireRows(ExpiryReport& report) {
  const std::uint32_t bound = first_week;
  FIELDCOST_ASSIGN(const std::uint64_t done, ReadMetaNumber(kRowsExpiredKey));
  if (done >= bound) return {};
  bool first_step = true;
  for (std::string next; first_step || !next.empty();) {
    // 1. Subtract what was withdrawn under the old bounds while the rows exist. Since other threads
    //    may not get the lock between two steps, this also makes any checkpoint that becomes due
    //    meanwhile.
    const std::lock_guard checkpoint_lock(checkpoint_mutex);
    if (first_step || IsCheckpointDue()) FIELDCOST_TRY(CheckpointLocked());
    first_step = false;
    // 2. Examine some rows, and collect those that have expired.
    Database::WriteSet changes(*database);
    std::vector<std::string> expired;
    Totals removed;
    bool saturated = false;
    CompactRow row;
    FIELDCOST_ASSIGN(next,
                     database->ForSome(Table::kRows, next, kExpiryStepEntries,
                                       [&](std::string_view key, std::string_view value) -> Status {
                                         if (WeekOfRowKey(key) >= bound) return {};
                                         FIELDCOST_TRY(DecodeRowValue(value, row));
                                         removed.AddRow(row);
                                         saturated = saturated || row.saturated;
                                         changes.Delete(Table::kRows, key);
                                         expired.emplace_back(key);
                                         return {};
                                       }));
    // 3. Subtract them from the totals. For a saturated row, its part of the totals is unknown.
    Totals left = totals;
    left.Subtract(removed);
    if (saturated) {
      FIELDCOST_ASSIGN(left, TotalsWithout(expired));
    }
    // 4. Delete them, with the new totals, in one write.
    if (!expired.empty()) changes.Put(Table::kProgress, kTotalsKey, left.Encode());
    if (next.empty()) changes.Put(Table::kMeta, kRowsExpiredKey, NumberKey(bound));
    if (expired.empty() && !next.empty()) continue;
    FIELDCOST_TRY(database->Write(changes));
    totals = left;
    report.rows += expired.size();
  }
  return {};
}

Status Store::State::ExpireEpochs(Table table, std::uint64_t& removed) {
  const std::uint64_t bound = first_epoch;
  std::string next;
  do {
    const HeldAccess access(evict_mutex, held_gate);
    Database::WriteSet changes(*database);
    std::uint64_t found = 0;
    std::map<std::string, HeldDrop> drops;
    FIELDCOST_ASSIGN(
        next, database->ForSome(table, next, kExpiryStepEntries,
                                [&](std::string_view key, std::string_view value) -> Status {
                                  if (key.size() < kHeadKeyBytes) return {};
                                  if (ReadBigEndian(key.substr(kAgentIdBytes, 8)) >= bound) {
                                    return {};
                                  }
                                  changes.Delete(table, key);
                                  ++found;
                                  if (table != Table::kHeld) return {};
                                  FIELDCOST_ASSIGN(const std::uint64_t room, HeldRoom(key, value));
                                  HeldDrop& drop = drops[std::string(key.substr(0, kHeadKeyBytes))];
                                  ++drop.batches;
                                  drop.bytes += room;
                                  return {};
                                }));
    if (found != 0) FIELDCOST_TRY(database->Write(changes));
    for (const auto& [agent, drop] : drops) held.Remove(agent, drop.batches, drop.bytes);
    removed += found;
  } while (!next.empty());
  return {};
}

Result<ExpiryReport> Store::Expire(std::uint32_t first_week, wire::Epoch first_epoch) {
  const std::lock_guard lock(state_->expire_mutex);
  const std::lock_guard backup_lock(state_->backup_mutex);
  if (state_->failed) return StoreFailed();
  ExpiryReport report;
  const auto run = [&]() -> Status {
    FIELDCOST_TRY(state_->RaiseBounds(first_week, first_epoch.value()));
    FIELDCOST_TRY(state_->ExpireRows(report));
    const std::uint64_t bound = state_->first_epoch;
    FIELDCOST_ASSIGN(const std::uint64_t done, state_->ReadMetaNumber(kEpochsExpiredKey));
    if (done >= bound) return {};
    // Must come first, while the ledger still knows these batches.
    FIELDCOST_ASSIGN(report.kept_batches, state_->ForgetBatches(bound));
    FIELDCOST_TRY(state_->ExpireEpochs(Table::kHeld, report.held_batches));
    FIELDCOST_TRY(state_->ExpireEpochs(Table::kLedger, report.ledger_entries));
    Database::WriteSet changes(*state_->database);
    changes.Put(Table::kMeta, kEpochsExpiredKey, NumberKey(bound));
    return state_->database->Write(changes);
  };
  if (Status status = run(); !status) return state_->Failed(status.error());
  return report;
}

Result<ExpiryEffect> Store::EffectOfExpiring(const RetentionBounds& bounds) {
  FIELDCOST_TRY(Checkpoint());
  ExpiryEffect effect;
  const auto count_row = [&](std::string_view key, std::string_view) -> Status {
    const std::uint32_t week = WeekOfRowKey(key);
    if (week >= bounds.first_week) {
      ++effect.rows_left;
      return {};
    }
    effect.oldest_week = effect.rows == 0 ? week : std::min(effect.oldest_week, week);
    effect.newest_week = std::max(effect.newest_week, week);
    ++effect.rows;
    return {};
  };
  FIELDCOST_TRY(state_->database->ForEach(Table::kRows, "", nullptr, count_row));
  const auto is_before = [](std::string_view key, wire::Epoch epoch) {
    return key.size() >= kHeadKeyBytes &&
           ReadBigEndian(key.substr(kAgentIdBytes, 8)) < epoch.value();
  };
  const auto count_entry = [&](std::string_view key, std::string_view) -> Status {
    std::uint64_t sequence = 0;
    if (IsKeptKey(key, sequence)) {
      effect.kept_batches += is_before(key, bounds.first_open_epoch) ? 1 : 0;
    } else {
      effect.ledger_entries += is_before(key, bounds.first_epoch) ? 1 : 0;
    }
    return {};
  };
  FIELDCOST_TRY(state_->database->ForEach(Table::kLedger, "", nullptr, count_entry));
  const auto count_held = [&](std::string_view key, std::string_view) -> Status {
    effect.held_batches += is_before(key, bounds.first_open_epoch) ? 1 : 0;
    return {};
  };
  FIELDCOST_TRY(state_->database->ForEach(Table::kHeld, "", nullptr, count_held));
  return effect;
}

std::uint32_t Store::first_week() const { return state_->first_week; }
wire::Epoch Store::first_epoch() const { return wire::Epoch(state_->first_epoch); }

Status Store::State::CheckEpoch(wire::Epoch epoch) const {
  if (epoch.value() >= first_epoch) return {};
  return Fail(ErrorCode::kInvalidArgument, "epoch {} has expired; {} is the first that is accepted",
              epoch.value(), first_epoch.load());
}

Result<std::string> Store::State::WithoutExpiredRows(std::string_view accepted_rows) const {
  const std::uint32_t bound = first_week;
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

Result<WithdrawResult> Store::State::WithdrawForgotten(const Withdrawal& withdrawal) const {
  FIELDCOST_ASSIGN(const AcceptedRows* const rows, withdrawal.rows(std::nullopt));
  bool all_expired = true;
  FIELDCOST_TRY(ForEachAcceptedRow(rows->bytes(), [&](std::string_view key, const CompactRow&) {
    all_expired = all_expired && WeekOfRowKey(key) < first_week;
  }));
  if (!all_expired) {
    return Fail(ErrorCode::kNotFound,
                "epoch {} has expired: it is not known any more whether the batch was delivered",
                withdrawal.epoch.value());
  }
  return WithdrawResult{.withdrawn_rows = rows->row_count(), .kind = WithdrawalKind::kRepeated};
}

}  // namespace fieldcost::store
