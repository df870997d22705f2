// Removes the rows of old weeks, and the held batches and ledgers of old epochs: the part of Store
// about retention.
#include <algorithm>
#include <set>

#include "aggregator/store/kept.h"
#include "aggregator/store/store_limits.h"
#include "aggregator/store/store_state.h"
#include "common/base/byte_order.h"

namespace fieldcost::store {
namespace {

// The epoch below which everything has been removed.
constexpr char kEpochsExpiredKey[] = "epochs_expired";

}  // namespace

Status Store::State::RaiseBounds(std::uint32_t week, std::uint64_t epoch) {
  {
    const LevelLock withdraw_lock(withdraw_mutex, lock_order::kWithdrawal);
    FIELDCOST_TRY(bounds.Raise(week, epoch));
  }
  ledger.agent_locks().AwaitHolders();
  return {};
}

Result<ExpiryReport> Store::Expire(std::uint32_t first_week, wire::Epoch first_epoch) {
  const LevelLock lock(state_->expire_mutex, lock_order::kExpiry);
  const LevelLock backup_lock(state_->backup_mutex, lock_order::kBackup);
  if (state_->failure.has_happened()) return StoreFailed();
  ExpiryReport report;
  const auto run = [&]() FIELDCOST_REQUIRES(lock_order::kExpiry, lock_order::kBackup) -> Status {
    FIELDCOST_TRY(state_->RaiseBounds(first_week, first_epoch.value()));
    FIELDCOST_TRY(state_->sums.ExpireRows(state_->bounds.first_week(), report.rows));
    FIELDCOST_TRY(state_->published.Expire(state_->bounds.first_week()));
    const std::uint64_t bound = state_->bounds.first_epoch();
    FIELDCOST_ASSIGN(const std::uint64_t done,
                     ReadMetaNumber(*state_->database, kEpochsExpiredKey));
    if (done >= bound) return {};
    // Must come first, while the ledger still knows these batches.
    FIELDCOST_ASSIGN(report.kept_batches, state_->ForgetBatches(bound));
    FIELDCOST_TRY(state_->held.Expire(Table::kHeld, bound, report.held_batches));
    FIELDCOST_TRY(state_->held.Expire(Table::kLedger, bound, report.ledger_entries));
    Database::WriteSet changes(*state_->database);
    changes.Put(Table::kMeta, kEpochsExpiredKey, NumberKey(bound));
    return state_->database->Write(changes);
  };
  if (Status status = run(); !status) return state_->failure.Record(status.error());
  return report;
}

Result<std::uint64_t> Store::DropHeldBefore(wire::Epoch epoch) {
  if (state_->failure.has_happened()) return StoreFailed();
  std::uint64_t dropped = 0;
  std::string next;
  do {
    std::set<std::string> agents;
    FIELDCOST_ASSIGN(next, state_->database->ForSome(
                               Table::kHeld, next, kDropStepEntries,
                               [&](std::string_view key, std::string_view) -> Status {
                                 if (key.size() < kAgentIdBytes + 8) return {};
                                 if (ReadBigEndian(key.substr(kAgentIdBytes, 8)) < epoch.value()) {
                                   agents.emplace(key.substr(0, kAgentIdBytes));
                                 }
                                 return {};
                               }));
    for (const std::string& agent_id : agents) {
      const AgentLock agent_lock(state_->ledger.agent_locks(), agent_id);
      Database::WriteSet changes(*state_->database);
      FIELDCOST_ASSIGN(const std::uint64_t batches,
                       state_->held.Drop(agent_id, epoch.value(), changes));
      dropped += batches;
    }
  } while (!next.empty());
  return dropped;
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

std::uint32_t Store::first_week() const { return state_->bounds.first_week(); }
wire::Epoch Store::first_epoch() const { return wire::Epoch(state_->bounds.first_epoch()); }

}  // namespace fieldcost::store
