#include "aggregator/store/delivery_ledger.h"

#include <utility>
#include <vector>

#include "aggregator/store/contributions.h"
#include "aggregator/store/store_parts.h"
#include "common/base/check.h"

namespace fieldcost::store {
namespace {

constexpr std::string_view kRecordVersion = "\x01";

std::string RevocationKey(std::string_view agent_id) {
  return std::string(kRevokedPrefix) + std::string(agent_id);
}

std::string EnrolmentKeyOf(std::string_view agent_id, wire::Epoch epoch) {
  return EnrolmentKey(LedgerHeadKey(agent_id, epoch.value()));
}

}  // namespace

Result<LedgerHead> DeliveryLedger::ReadHead(const std::string& head_key) const {
  FIELDCOST_ASSIGN(const auto bytes, database_.Get(Table::kLedger, head_key));
  if (!bytes) return LedgerHead();
  return LedgerHead::Decode(*bytes);
}

Result<std::optional<std::string>> DeliveryLedger::AnswerTo(const std::string& head_key,
                                                            std::uint64_t sequence) const {
  return database_.Get(Table::kLedger, AnswerKey(head_key, sequence));
}

Result<std::optional<AcceptResult>> DeliveryLedger::AnswerIfKnown(const LedgerHead& head,
                                                                  const std::string& head_key,
                                                                  std::uint64_t sequence) const {
  switch (head.Classify(sequence)) {
    case LedgerHead::Seen::kTooOld:
      return Fail(ErrorCode::kInvalidArgument,
                  "sequence too old: {} is more than {} behind {}, the newest accepted", sequence,
                  kLedgerWindow - 1, head.high_water());
    case LedgerHead::Seen::kReplay: {
      FIELDCOST_ASSIGN(auto answer, AnswerTo(head_key, sequence));
      if (answer) {
        return std::optional(AcceptResult{.answer = std::move(*answer), .replay = true});
      }
      const Error missing = Fail(ErrorCode::kCorrupt, "the answer of an accepted batch is missing");
      database_.NoteDamage(missing.message);
      return missing;
    }
    case LedgerHead::Seen::kNew:
      break;
  }
  return std::optional<AcceptResult>();
}

Status DeliveryLedger::PutSkipped(const std::string& head_key, const LedgerHead& head,
                                  std::uint64_t sequence, Database::WriteSet& changes) const {
  for (const SequenceRange& range : head.Skipped(sequence)) {
    std::uint64_t first = range.first;
    const std::string before_key = SkippedKey(head_key, first - 1);
    FIELDCOST_ASSIGN(const auto before, database_.Get(Table::kLedger, before_key));
    if (before) {
      FIELDCOST_ASSIGN(first, DecodeSkipped(*before));
      changes.Delete(Table::kLedger, before_key);
    }
    changes.Put(Table::kLedger, SkippedKey(head_key, range.last), EncodeSkipped(first));
  }
  return {};
}

Status DeliveryLedger::PutDelivery(const std::string& head_key, std::uint64_t sequence,
                                   std::string_view answer, LedgerHead& head,
                                   Database::WriteSet& changes) const {
  FIELDCOST_CHECK(head.Classify(sequence) == LedgerHead::Seen::kNew);
  FIELDCOST_TRY(PutSkipped(head_key, head, sequence, changes));
  std::vector<std::uint64_t> forgotten;
  head.Record(sequence, forgotten);
  changes.Put(Table::kLedger, head_key, head.Encode());
  changes.Put(Table::kLedger, AnswerKey(head_key, sequence), answer);
  for (const std::uint64_t old : forgotten) {
    changes.Delete(Table::kLedger, AnswerKey(head_key, old));
  }
  return {};
}

void DeliveryLedger::PutContributions(const AcceptedBatch& batch, const std::string& head_key,
                                      Database::WriteSet& changes) const {
  for (const WeekContributions& part : batch.contributions) {
    if (part.hashes.empty()) continue;
    changes.Put(Table::kLedger, ContributionKey(head_key, part.week, batch.sequence.value()),
                EncodeContributions(part.hashes));
  }
  if (batch.bind) {
    changes.Put(Table::kLedger, BindingKey(head_key), EncodeBinding(*batch.bind));
  }
}

Result<bool> DeliveryLedger::IsSkipped(const std::string& head_key, std::uint64_t sequence) const {
  bool skipped = false;
  const auto look = [&](std::string_view key, std::string_view value) -> Status {
    if (!IsSkippedKey(key, head_key)) return {};
    FIELDCOST_ASSIGN(const std::uint64_t first, DecodeSkipped(value));
    skipped = first <= sequence;
    return {};
  };
  FIELDCOST_ASSIGN(const std::string next,
                   database_.ForSome(Table::kLedger, SkippedKey(head_key, sequence), 1, look));
  (void)next;
  return skipped;
}

Result<std::optional<std::uint32_t>> DeliveryLedger::WithdrawnRows(const std::string& head_key,
                                                                   std::uint64_t sequence) const {
  FIELDCOST_ASSIGN(const auto tombstone,
                   database_.Get(Table::kLedger, TombstoneKey(head_key, sequence)));
  if (!tombstone) return std::optional<std::uint32_t>();
  FIELDCOST_ASSIGN(const std::uint32_t rows, DecodeTombstone(*tombstone));
  return std::optional(rows);
}

void DeliveryLedger::PutWithdrawal(const std::string& head_key, std::uint64_t sequence,
                                   std::uint32_t withdrawn_rows,
                                   Database::WriteSet& changes) const {
  changes.Put(Table::kLedger, TombstoneKey(head_key, sequence), EncodeTombstone(withdrawn_rows));
}

Status DeliveryLedger::CountUndelivered(const std::string& head_key,
                                        Database::WriteSet& changes) const {
  const std::string key = UndeliveredKey(head_key);
  std::uint64_t batches = 0;
  FIELDCOST_ASSIGN(const auto known, database_.Get(Table::kLedger, key));
  if (known) {
    FIELDCOST_ASSIGN(batches, DecodeUndelivered(*known));
  }
  if (batches >= kMaxUndelivered) {
    return Fail(ErrorCode::kUnavailable,
                "this agent has withdrawn {} batches that never arrived; more are refused until no "
                "batch of their quarter is accepted any more",
                batches);
  }
  changes.Put(Table::kLedger, key, EncodeUndelivered(batches + 1));
  return {};
}

Result<bool> DeliveryLedger::IsEnrolled(std::string_view agent_id, wire::Epoch epoch) const {
  FIELDCOST_ASSIGN(const auto record,
                   database_.Get(Table::kLedger, EnrolmentKeyOf(agent_id, epoch)));
  return record.has_value();
}

void DeliveryLedger::PutEnrolment(std::string_view agent_id, wire::Epoch epoch,
                                  Database::WriteSet& changes) const {
  changes.Put(Table::kLedger, EnrolmentKeyOf(agent_id, epoch), kRecordVersion);
}

Result<bool> DeliveryLedger::IsRevoked(std::string_view agent_id) const {
  FIELDCOST_ASSIGN(const auto record, database_.Get(Table::kMeta, RevocationKey(agent_id)));
  return record.has_value();
}

void DeliveryLedger::PutRevocation(std::string_view agent_id, Database::WriteSet& changes) const {
  changes.Put(Table::kMeta, RevocationKey(agent_id), kRecordVersion);
}

}  // namespace fieldcost::store
