// Subtracts a batch as if it had never arrived: the part of Store about withdrawals.
#include "aggregator/store/contributions.h"
#include "aggregator/store/kept.h"
#include "aggregator/store/store_row_codec.h"
#include "aggregator/store/store_state.h"
#include "common/base/check.h"

namespace fieldcost::store {

Status Store::State::CheckWithdrawable(std::string_view accepted_rows) const {
  CompactRow row_sums;
  Status status;
  FIELDCOST_TRY(ForEachAcceptedRow(accepted_rows, [&](std::string_view key, const CompactRow& row) {
    bool found = false;
    if (status) status = sums.ReadRow(key, row_sums, found);
    if (status && row_sums.saturated) {
      status = Fail(ErrorCode::kUnsupported,
                    "a row has reached the limit of its numbers; nothing can be taken from it");
    }
    if (status) status = row_sums.Subtract(row);
  }));
  return status;
}

Result<WithdrawResult> Store::Withdraw(const Withdrawal& withdrawal) {
  FIELDCOST_CHECK(withdrawal.agent_id.size() == kAgentIdBytes);
  FIELDCOST_CHECK(withdrawal.late_answer.size() <= kMaxAnswerBytes);
  const std::uint64_t sequence = withdrawal.sequence.value();
  if (sequence == 0) return Fail(ErrorCode::kInvalidArgument, "sequence numbers start at 1");
  const std::string key = LedgerHeadKey(withdrawal.agent_id, withdrawal.epoch.value());

  const AgentLock agent_lock(state_->ledger.agent_locks(), withdrawal.agent_id);
  if (state_->failure.has_happened()) return StoreFailed();
  if (withdrawal.epoch.value() < state_->bounds.first_epoch()) {
    return state_->bounds.WithdrawForgotten(withdrawal);
  }
  const DeliveryLedger& ledger = state_->ledger;
  FIELDCOST_ASSIGN(const auto withdrawn, ledger.WithdrawnRows(key, sequence));
  if (withdrawn) {
    return WithdrawResult{.withdrawn_rows = *withdrawn, .kind = WithdrawalKind::kRepeated};
  }
  FIELDCOST_ASSIGN(LedgerHead head, ledger.ReadHead(key));
  const LedgerHead::Seen seen = head.Classify(sequence);
  Database::WriteSet changes(*state_->database);
  if (seen == LedgerHead::Seen::kNew) {
    if (!withdrawal.may_come) return WithdrawResult{.kind = WithdrawalKind::kNeverDelivered};
    FIELDCOST_TRY(ledger.CountUndelivered(key, changes));
    FIELDCOST_TRY(ledger.PutDelivery(key, sequence, withdrawal.late_answer, head, changes));
    ledger.PutWithdrawal(key, sequence, 0, changes);
    FIELDCOST_TRY(state_->sums.Commit(changes));
    return WithdrawResult{.kind = WithdrawalKind::kNeverDelivered};
  }
  if (seen == LedgerHead::Seen::kTooOld) {
    // The batch was lost when a backup was restored; its receipt may still be valid.
    FIELDCOST_ASSIGN(const bool skipped, ledger.IsSkipped(key, sequence));
    if (skipped) return WithdrawResult{.kind = WithdrawalKind::kNeverDelivered};
  }
  std::optional<std::string> answer;
  if (seen == LedgerHead::Seen::kReplay) {
    FIELDCOST_ASSIGN(answer, ledger.AnswerTo(key, sequence));
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
  FIELDCOST_ASSIGN(const bool was_held,
                   held.Withdraw(head_key, sequence, result.withdrawn_rows, changes));
  if (was_held) return result;
  FIELDCOST_ASSIGN(const auto kept_number, kept.NumberOf(head_key, sequence));
  if (kept_number) changes.Delete(Table::kLedger, KeptKey(head_key, sequence));
  // One at a time: the rows that the check has found must still be there when they are subtracted.
  const LevelLock withdraw_lock(withdraw_mutex, lock_order::kWithdrawal);
  FIELDCOST_ASSIGN(const std::string left, bounds.WithoutExpiredRows(accepted_rows));
  FIELDCOST_TRY(CheckWithdrawable(left));
  ledger.PutWithdrawal(head_key, sequence, result.withdrawn_rows, changes);
  FIELDCOST_ASSIGN(const std::vector<UnitWeeks> units, published.UnitsToMark(left));
  FIELDCOST_TRY(sums.CommitWithdrawal(changes, WithdrawnRecord(left), kept_number, units));
  return result;
}

}  // namespace fieldcost::store
