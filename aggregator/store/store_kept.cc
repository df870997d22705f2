// Forgets and withdraws batches that are kept: the part of Store about kept batches.
#include <algorithm>
#include <optional>
#include <utility>

#include "aggregator/store/kept.h"
#include "aggregator/store/store_limits.h"
#include "aggregator/store/store_state.h"
#include "common/base/byte_order.h"
#include "common/base/check.h"

namespace fieldcost::store {
Result<std::uint64_t> Store::State::ForgetBatches(std::uint64_t epoch) {
  FIELDCOST_ASSIGN(const bool done, kept.HasForgotten(epoch));
  if (done) return std::uint64_t{0};
  FIELDCOST_TRY(kept.RaiseFirstEpoch(epoch));
  // Waits for threads that are still keeping a batch of an earlier epoch.
  ledger.agent_locks().AwaitHolders();
  // Batches that are not yet in the rows are needed after a restart.
  FIELDCOST_TRY(sums.Checkpoint());
  return kept.Forget(epoch);
}

Result<std::uint64_t> Store::ForgetBatchesBefore(wire::Epoch epoch) {
  const LevelLock lock(state_->expire_mutex, lock_order::kExpiry);
  const LevelLock backup_lock(state_->backup_mutex, lock_order::kBackup);
  if (state_->failure.has_happened()) return StoreFailed();
  auto forgotten = state_->ForgetBatches(epoch.value());
  if (!forgotten) return state_->failure.Record(forgotten.error());
  return forgotten;
}

Status Store::ForEachAgent(const std::function<Status(std::string_view agent_id)>& visit) const {
  return state_->database->ForEachPrefix(Table::kLedger, kAgentIdBytes, visit);
}

Result<AgentBatches> Store::BatchesOf(std::string_view agent_id) const {
  FIELDCOST_CHECK(agent_id.size() == kAgentIdBytes);
  AgentBatches batches;
  std::uint64_t withdrawn = 0;
  std::uint64_t delivered = 0;
  const auto look = [&](std::string_view key, std::string_view value) -> Status {
    std::uint64_t sequence = 0;
    if (IsKeptKey(key, sequence)) {
      batches.kept.emplace_back(wire::Epoch(ReadBigEndian(key.substr(kAgentIdBytes, kNumberBytes))),
                                wire::Sequence(sequence));
    } else if (key.size() == kHeadKeyBytes) {
      FIELDCOST_ASSIGN(const LedgerHead head, LedgerHead::Decode(value));
      delivered += head.Delivered();
    } else if (const std::string_view head_key = key.substr(0, kHeadKeyBytes);
               IsSkippedKey(key, head_key)) {
      FIELDCOST_ASSIGN(const std::uint64_t first, DecodeSkipped(value));
      delivered -= ReadBigEndian(key.substr(key.size() - kNumberBytes)) - first + 1;
    } else if (IsTombstoneKey(key)) {
      ++withdrawn;
    }
    return {};
  };
  FIELDCOST_TRY(state_->database->ForPrefix(Table::kLedger, agent_id, look));
  FIELDCOST_TRY(state_->database->ForPrefix(Table::kHeld, agent_id,
                                            [&](std::string_view, std::string_view) -> Status {
                                              ++batches.held;
                                              return {};
                                            }));
  const std::uint64_t known = withdrawn + batches.kept.size() + batches.held;
  batches.not_kept = delivered - std::min(delivered, known);
  return batches;
}

Result<std::optional<std::string>> Store::KeptRows(std::string_view agent_id, wire::Epoch epoch,
                                                   wire::Sequence sequence) const {
  FIELDCOST_CHECK(agent_id.size() == kAgentIdBytes);
  return state_->kept.RowsOf(LedgerHeadKey(agent_id, epoch.value()), sequence.value());
}

Result<WithdrawResult> Store::WithdrawKept(std::string_view agent_id, wire::Epoch epoch,
                                           wire::Sequence sequence) {
  FIELDCOST_CHECK(agent_id.size() == kAgentIdBytes);
  const std::string key = LedgerHeadKey(agent_id, epoch.value());
  const AgentLock agent_lock(state_->ledger.agent_locks(), agent_id);
  if (state_->failure.has_happened()) return StoreFailed();
  FIELDCOST_ASSIGN(const auto rows, state_->kept.RowsOf(key, sequence.value()));
  if (!rows) return WithdrawResult{.kind = WithdrawalKind::kRepeated};
  Database::WriteSet changes(*state_->database);
  return state_->SubtractDelivered(key, sequence.value(), *rows, changes);
}

}  // namespace fieldcost::store
