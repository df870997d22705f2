#include "aggregator/store/kept_batches.h"

#include "aggregator/store/batch_record.h"
#include "aggregator/store/kept.h"
#include "aggregator/store/store_limits.h"
#include "common/base/byte_order.h"
#include "common/base/check.h"

namespace fieldcost::store {
namespace {

// Batches of earlier epochs are no longer kept, ...
constexpr char kKeptFromKey[] = "kept_from";
// ... and all kept batches of epochs up to this one have been removed.
constexpr char kForgottenKey[] = "batches_forgotten";

}  // namespace

Status KeptBatches::Load() {
  FIELDCOST_ASSIGN(first_epoch_, ReadMetaNumber(database_, kKeptFromKey));
  return {};
}

void KeptBatches::PutAddition(const Addition& addition, std::string_view head_key,
                              std::uint64_t number, Database::WriteSet& changes) const {
  if (ReadBigEndian(head_key.substr(kAgentIdBytes)) < first_epoch_) {
    changes.Put(Table::kInbox, NumberKey(number), addition.record);
    return;
  }
  changes.Put(Table::kBatches, NumberKey(number), addition.record);
  changes.Put(Table::kLedger, KeptKey(head_key, addition.sequence), NumberKey(number));
}

Result<std::optional<std::uint64_t>> KeptBatches::NumberOf(std::string_view head_key,
                                                           std::uint64_t sequence) const {
  FIELDCOST_ASSIGN(const auto bytes, database_.Get(Table::kLedger, KeptKey(head_key, sequence)));
  if (!bytes) return std::optional<std::uint64_t>();
  FIELDCOST_ASSIGN(const std::uint64_t number, DecodeKeptNumber(*bytes));
  return std::optional(number);
}

Result<std::optional<std::string>> KeptBatches::RowsOf(std::string_view head_key,
                                                       std::uint64_t sequence) const {
  FIELDCOST_ASSIGN(const auto number, NumberOf(head_key, sequence));
  if (!number) return std::optional<std::string>();
  FIELDCOST_ASSIGN(const auto record, database_.Get(Table::kBatches, NumberKey(*number)));
  if (!record) {
    // A concurrent call may be forgetting its epoch.
    FIELDCOST_ASSIGN(const auto again, NumberOf(head_key, sequence));
    if (again) return Fail(ErrorCode::kCorrupt, "a kept batch is missing");
    return std::optional<std::string>();
  }
  FIELDCOST_ASSIGN(std::string rows, AcceptedRowsOf(*record));
  return std::optional(std::move(rows));
}

void KeptBatches::AddPending(const PendingRemoval& removal) {
  const MutexLock lock(mutex_);
  pending_.push_back(removal);
}

void KeptBatches::RemovePending(std::uint64_t number, Database::WriteSet& changes) {
  const MutexLock lock(mutex_);
  std::erase_if(pending_, [&](const PendingRemoval& one) {
    if (one.withdrawal > number) return false;
    changes.Delete(Table::kBatches, NumberKey(one.batch));
    return true;
  });
}

Result<bool> KeptBatches::HasForgotten(std::uint64_t epoch) const {
  FIELDCOST_ASSIGN(const std::uint64_t done, ReadMetaNumber(database_, kForgottenKey));
  return done >= epoch;
}

Status KeptBatches::RaiseFirstEpoch(std::uint64_t epoch) {
  if (epoch <= first_epoch_) return {};
  Database::WriteSet changes(database_);
  changes.Put(Table::kMeta, kKeptFromKey, NumberKey(epoch));
  FIELDCOST_TRY(database_.Write(changes));
  first_epoch_ = epoch;
  return {};
}

Result<std::uint64_t> KeptBatches::Forget(std::uint64_t epoch) {
  FIELDCOST_CHECK(first_epoch_ >= epoch);
  std::uint64_t forgotten = 0;
  std::string next;
  do {
    Database::WriteSet changes(database_);
    std::uint64_t found = 0;
    FIELDCOST_ASSIGN(
        next,
        database_.ForSome(Table::kLedger, next, kExpiryStepEntries,
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
    if (found != 0) FIELDCOST_TRY(database_.Write(changes));
    forgotten += found;
  } while (!next.empty());
  Database::WriteSet changes(database_);
  changes.Put(Table::kMeta, kForgottenKey, NumberKey(epoch));
  FIELDCOST_TRY(database_.Write(changes));
  return forgotten;
}

}  // namespace fieldcost::store
