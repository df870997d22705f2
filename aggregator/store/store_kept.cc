// Keeps the batches that are in the sums, and forgets them: the part of Store about kept batches.
#include <algorithm>
#include <optional>
#include <utility>

#include "aggregator/store/batch_record.h"
#include "aggregator/store/store_state.h"
#include "common/base/byte_order.h"
#include "common/base/check.h"

namespace fieldcost::store {
namespace {

constexpr std::size_t kNumberBytes = 8;
constexpr std::size_t kHeadKeyBytes = kAgentIdBytes + kNumberBytes;

// Batches of earlier epochs are no longer kept, ...
constexpr char kKeptFromKey[] = "kept_from";
// ... and all kept batches of epochs up to this one have been removed.
constexpr char kForgottenKey[] = "batches_forgotten";

}  // namespace

Status Store::State::LoadKept() {
  FIELDCOST_ASSIGN(kept_from, ReadMetaNumber(kKeptFromKey));
  return database->ForEach(Table::kInbox, "", nullptr,
                           [this](std::string_view key, std::string_view) -> Status {
                             PendingRemoval one;
                             if (!IsRemovalKey(key, one.withdrawal, one.batch)) {
                               if (key.size() != kNumberBytes)
                                 return Fail(ErrorCode::kCorrupt, "inbox key is malformed");
                               one.withdrawal = ReadBigEndian(key);
                             } else {
                               pending_removals.push_back(one);
                             }
                             inbox_left = inbox_left || one.withdrawal <= applied;
                             return {};
                           });
}

void Store::State::PutAddition(const Addition& addition, std::string_view head_key,
                               std::uint64_t number, Database::WriteSet& changes) const {
  if (ReadBigEndian(head_key.substr(kAgentIdBytes)) < kept_from) {
    changes.Put(Table::kInbox, NumberKey(number), addition.record);
    return;
  }
  changes.Put(Table::kBatches, NumberKey(number), addition.record);
  changes.Put(Table::kLedger, KeptKey(head_key, addition.sequence), NumberKey(number));
}

Result<std::optional<std::uint64_t>> Store::State::KeptNumber(std::string_view head_key,
                                                              std::uint64_t sequence) const {
  FIELDCOST_ASSIGN(const auto bytes, database->Get(Table::kLedger, KeptKey(head_key, sequence)));
  if (!bytes) return std::optional<std::uint64_t>();
  FIELDCOST_ASSIGN(const std::uint64_t number, DecodeKeptNumber(*bytes));
  return std::optional(number);
}

Result<std::optional<std::string>> Store::State::KeptRows(std::string_view head_key,
                                                          std::uint64_t sequence) const {
  FIELDCOST_ASSIGN(const auto number, KeptNumber(head_key, sequence));
  if (!number) return std::optional<std::string>();
  FIELDCOST_ASSIGN(const auto record, database->Get(Table::kBatches, NumberKey(*number)));
  if (!record) {
    // A concurrent call may be forgetting its epoch.
    FIELDCOST_ASSIGN(const auto again, KeptNumber(head_key, sequence));
    if (again) return Fail(ErrorCode::kCorrupt, "a kept batch is missing");
    return std::optional<std::string>();
  }
  FIELDCOST_ASSIGN(std::string rows, AcceptedRowsOf(*record));
  return std::optional(std::move(rows));
}

// REQUIRES: checkpoint_mutex is held; everything up to `number` is in the rows.
Status Store::State::EmptyInbox(std::uint64_t number) {
  Database::WriteSet summed(*database);
  summed.DeleteRange(Table::kInbox, NumberKey(inbox_begin), NumberKey(number + 1));
  {
    const std::lock_guard lock(table_mutex);
    std::erase_if(pending_removals, [&](const PendingRemoval& one) {
      if (one.withdrawal > number) return false;
      summed.Delete(Table::kBatches, NumberKey(one.batch));
      return true;
    });
  }
  FIELDCOST_TRY(database->Write(summed));
  inbox_begin = number + 1;
  inbox_left = false;
  return {};
}

// On return, no thread is still keeping a batch of an earlier epoch.
Status Store::State::RaiseKeptFrom(std::uint64_t epoch) {
  if (epoch > kept_from) {
    Database::WriteSet changes(*database);
    changes.Put(Table::kMeta, kKeptFromKey, NumberKey(epoch));
    FIELDCOST_TRY(database->Write(changes));
    kept_from = epoch;
  }
  for (std::mutex& stripe : stripes) const std::lock_guard lock(stripe);
  return {};
}

Result<std::uint64_t> Store::State::ForgetBatches(std::uint64_t epoch) {
  std::uint64_t forgotten = 0;
  FIELDCOST_ASSIGN(const std::uint64_t done, ReadMetaNumber(kForgottenKey));
  if (done >= epoch) return forgotten;
  FIELDCOST_TRY(RaiseKeptFrom(epoch));
  {
    // Batches that are not yet in the rows are needed after a restart.
    const std::lock_guard checkpoint_lock(checkpoint_mutex);
    FIELDCOST_TRY(CheckpointLocked());
  }
  std::string next;
  do {
    Database::WriteSet changes(*database);
    std::uint64_t found = 0;
    FIELDCOST_ASSIGN(
        next,
        database->ForSome(Table::kLedger, next, kExpiryStepEntries,
                          [&](std::string_view key, std::string_view value) -> Status {
                            std::uint64_t sequence = 0;
                            if (!IsKeptKey(key, sequence)) return {};
                            if (ReadBigEndian(key.substr(kAgentIdBytes, kNumberBytes)) >= epoch)
                              return {};
                            FIELDCOST_ASSIGN(const std::uint64_t number, DecodeKeptNumber(value));
                            changes.Delete(Table::kLedger, key);
                            changes.Delete(Table::kBatches, NumberKey(number));
                            ++found;
                            return {};
                          }));
    if (found != 0) FIELDCOST_TRY(database->Write(changes));
    forgotten += found;
  } while (!next.empty());
  Database::WriteSet changes(*database);
  changes.Put(Table::kMeta, kForgottenKey, NumberKey(epoch));
  FIELDCOST_TRY(database->Write(changes));
  return forgotten;
}

Result<std::uint64_t> Store::ForgetBatchesBefore(wire::Epoch epoch) {
  const std::lock_guard lock(state_->expire_mutex);
  const std::lock_guard backup_lock(state_->backup_mutex);
  if (state_->failed) return StoreFailed();
  auto forgotten = state_->ForgetBatches(epoch.value());
  if (!forgotten) return state_->Failed(forgotten.error());
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
  return state_->KeptRows(LedgerHeadKey(agent_id, epoch.value()), sequence.value());
}

Result<WithdrawResult> Store::WithdrawKept(std::string_view agent_id, wire::Epoch epoch,
                                           wire::Sequence sequence) {
  FIELDCOST_CHECK(agent_id.size() == kAgentIdBytes);
  const std::string key = LedgerHeadKey(agent_id, epoch.value());
  const std::lock_guard stripe_lock(StripeOf(state_->stripes, agent_id));
  if (state_->failed) return StoreFailed();
  FIELDCOST_ASSIGN(const auto rows, state_->KeptRows(key, sequence.value()));
  if (!rows) return WithdrawResult{.kind = WithdrawalKind::kRepeated};
  Database::WriteSet changes(*state_->database);
  return state_->SubtractDelivered(key, sequence.value(), *rows, changes);
}

}  // namespace fieldcost::store
