// Subtracts a batch as if it had never arrived: the part of Store about withdrawals.
#include "aggregator/store/contributions.h"
#include "aggregator/store/store_state.h"
#include "common/base/check.h"

namespace fieldcost::store {

Status Store::State::CheckWithdrawable(std::string_view accepted_rows) const {
  CompactRow sums;
  Status status;
  FIELDCOST_TRY(ForEachAcceptedRow(accepted_rows, [&](std::string_view key, const CompactRow& row) {
    bool found = false;
    if (status) status = ReadRow(key, sums, found);
    if (status && sums.saturated) {
      status = Fail(ErrorCode::kUnsupported,
                    "a row has reached the limit of its numbers; nothing can be taken from it");
    }
    if (status) status = sums.Subtract(row);
  }));
  return status;
}

Status Store::State::NoteSkipped(const std::string& head_key, const LedgerHead& head,
                                 std::uint64_t sequence, Database::WriteSet& changes) const {
  for (const SequenceRange& range : head.Skipped(sequence)) {
    std::uint64_t first = range.first;
    const std::string before_key = SkippedKey(head_key, first - 1);
    FIELDCOST_ASSIGN(const auto before, database->Get(Table::kLedger, before_key));
    if (before) {
      FIELDCOST_ASSIGN(first, DecodeSkipped(*before));
      changes.Delete(Table::kLedger, before_key);
    }
    changes.Put(Table::kLedger, SkippedKey(head_key, range.last), EncodeSkipped(first));
  }
  return {};
}

Result<bool> Store::State::IsSkipped(const std::string& head_key, std::uint64_t sequence) const {
  bool skipped = false;
  const auto look = [&](std::string_view key, std::string_view value) -> Status {
    if (!IsSkippedKey(key, head_key)) return {};
    FIELDCOST_ASSIGN(const std::uint64_t first, DecodeSkipped(value));
    skipped = first <= sequence;
    return {};
  };
  FIELDCOST_ASSIGN(const std::string next,
                   database->ForSome(Table::kLedger, SkippedKey(head_key, sequence), 1, look));
  (void)next;
  return skipped;
}

Status Store::State::CountUndelivered(const std::string& head_key,
                                      Database::WriteSet& changes) const {
  const std::string key = UndeliveredKey(head_key);
  std::uint64_t batches = 0;
  FIELDCOST_ASSIGN(const auto known, database->Get(Table::kLedger, key));
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

Result<WithdrawResult> Store::Withdraw(const Withdrawal& withdrawal) {
  FIELDCOST_CHECK(withdrawal.agent_id.size() == kAgentIdBytes);
  FIELDCOST_CHECK(withdrawal.late_answer.size() <= kMaxAnswerBytes);
  const std::uint64_t sequence = withdrawal.sequence.value();
  if (sequence == 0) return Fail(ErrorCode::kInvalidArgument, "sequence numbers start at 1");
  const std::string key = LedgerHeadKey(withdrawal.agent_id, withdrawal.epoch.value());
  const std::string tombstone_key = TombstoneKey(key, sequence);

  const std::lock_guard stripe_lock(StripeOf(state_->stripes, withdrawal.agent_id));
  if (state_->failed) return StoreFailed();
  if (withdrawal.epoch.value() < state_->first_epoch) return state_->WithdrawForgotten(withdrawal);
  FIELDCOST_ASSIGN(const auto tombstone, state_->database->Get(Table::kLedger, tombstone_key));
  if (tombstone) {
    FIELDCOST_ASSIGN(const std::uint32_t rows, DecodeTombstone(*tombstone));
    return WithdrawResult{.withdrawn_rows = rows, .kind = WithdrawalKind::kRepeated};
  }
  FIELDCOST_ASSIGN(LedgerHead head, state_->ReadHead(key));
  const LedgerHead::Seen seen = head.Classify(sequence);
  Database::WriteSet changes(*state_->database);
  if (seen == LedgerHead::Seen::kNew) {
    if (!withdrawal.may_come) return WithdrawResult{.kind = WithdrawalKind::kNeverDelivered};
    FIELDCOST_TRY(state_->CountUndelivered(key, changes));
    FIELDCOST_TRY(state_->NoteSkipped(key, head, sequence, changes));
    RecordDelivery(key, sequence, withdrawal.late_answer, head, changes);
    changes.Put(Table::kLedger, tombstone_key, EncodeTombstone(0));
    FIELDCOST_TRY(state_->Commit(changes));
    return WithdrawResult{.kind = WithdrawalKind::kNeverDelivered};
  }
  if (seen == LedgerHead::Seen::kTooOld) {
    // The batch was lost when a backup was restored; its receipt may still be valid.
    FIELDCOST_ASSIGN(const bool skipped, state_->IsSkipped(key, sequence));
    if (skipped) return WithdrawResult{.kind = WithdrawalKind::kNeverDelivered};
  }
  std::optional<std::string> answer;
  if (seen == LedgerHead::Seen::kReplay) {
    FIELDCOST_ASSIGN(answer, state_->database->Get(Table::kLedger, AnswerKey(key, sequence)));
  }
  FIELDCOST_ASSIGN(const AcceptedRows* const rows, withdrawal.rows(answer));
  return state_->SubtractDelivered(key, sequence, rows->bytes(), changes);
}

Result<WithdrawResult> Store::State::SubtractDelivered(const std::string& head_key,
                                                       std::uint64_t sequence,
                                                       const std::string& accepted_rows,
                                                       Database::WriteSet& changes) {
  WithdrawResult result;
  FIELDCOST_TRY(ForEachAcceptedRow(
      accepted_rows, [&](std::string_view, const CompactRow&) { ++result.withdrawn_rows; }));
  FIELDCOST_TRY(DropContributions(head_key, sequence, accepted_rows, changes));
  if (held.batches() != 0) {
    FIELDCOST_ASSIGN(const bool was_held,
                     WithdrawHeld(head_key, sequence, result.withdrawn_rows, changes));
    if (was_held) return result;
  }
  FIELDCOST_ASSIGN(const auto kept_number, KeptNumber(head_key, sequence));
  if (kept_number) changes.Delete(Table::kLedger, KeptKey(head_key, sequence));
  // One at a time: the rows that the check has found must still be there when they are subtracted.
  const std::lock_guard withdraw_lock(withdraw_mutex);
  FIELDCOST_ASSIGN(const std::string left, WithoutExpiredRows(accepted_rows));
  FIELDCOST_TRY(CheckWithdrawable(left));
  changes.Put(Table::kLedger, TombstoneKey(head_key, sequence),
              EncodeTombstone(result.withdrawn_rows));
  FIELDCOST_TRY(CommitWithdrawal(changes, WithdrawnRecord(left), kept_number));
  return result;
}

}  // namespace fieldcost::store
