// Withdraws a batch for its agent: the part of Ingest about withdrawals.
#include <algorithm>

#include "aggregator/ingest/ingest_workspace.h"
#include "aggregator/ingest/row_check.h"
#include "common/base/log.h"
#include "common/wire/wire_limits.h"
#include "common/wire/wire_requests.h"

namespace fieldcost::ingest {
namespace {

// The response to a batch that arrives after its withdrawal.
std::string LateAnswer(std::size_t row_count) {
  wire::BatchAnswer answer{.rejected_rows = static_cast<std::uint32_t>(row_count)};
  if (row_count != 0) {
    answer.rejects.push_back({.row = 0, .reason = "the batch was withdrawn before it arrived"});
  }
  return wire::EncodeAnswer(answer);
}

// The refused rows according to the receipt in our stored response, for agents that send no
// receipt.
Result<std::vector<std::uint32_t>> ReceiptIn(const std::optional<std::string>& answer,
                                             const BatchIdentity& batch, const Receipts& receipts) {
  if (!answer) {
    return Fail(ErrorCode::kNotFound, "the batch is too old to be withdrawn without its receipt");
  }
  FIELDCOST_ASSIGN(const wire::BatchAnswer decoded, wire::DecodeAnswer(*answer));
  auto receipt = receipts.Open(decoded.receipt, batch);
  if (!receipt) {
    return Fail(ErrorCode::kPermissionDenied, "the body is not the one that was accepted");
  }
  return receipt;
}

}  // namespace

// Returns the rows of the decoded batch except the refused ones.
Result<const store::AcceptedRows*> Ingest::AcceptedRowsOf(const std::vector<std::uint32_t>& refused,
                                                          Workspace& workspace) {
  workspace.Start();
  for (std::size_t index = 0; index < workspace.decoder.row_count(); ++index) {
    if (std::binary_search(refused.begin(), refused.end(), index)) continue;
    workspace.decoder.GetRow(index, workspace.row);
    FIELDCOST_TRY(CheckRowContent(workspace.row));
    workspace.MakeKey();
    workspace.accepted.Add(workspace.key_bytes, workspace.row.histogram,
                           workspace.row.first_contribution ? store::Contribution::kFirst
                                                            : store::Contribution::kNone);
  }
  return &workspace.accepted;
}

Result<bool> Ingest::WouldBeAccepted(const BatchIdentity& batch,
                                     const std::string& agent_id) const {
  if (admission_.IsRevoked(agent_id) || !CheckEpoch(batch.epoch)) return false;
  if (admission_.mode() != EnrolmentMode::kToken) return true;
  return store_.IsEnrolled(agent_id, batch.epoch);
}

http::Response Ingest::WithdrawBatch(const BatchIdentity& batch, const std::string& agent_id,
                                     std::string_view untrusted_receipt, Workspace& workspace) {
  // 1. Check that the receipt, if there is one, was issued by us for this batch.
  std::optional<std::vector<std::uint32_t>> shown;  // its refused rows
  if (!untrusted_receipt.empty()) {
    auto opened = receipts_.Open(untrusted_receipt, batch);
    if (!opened) {
      ++counters_.bad_receipt;
      abuse_log_.Note(Abuse::kForeignReceipt, agent_id, clock_.Now());
      return Refuse(opened.error());
    }
    shown = std::move(*opened);
  }
  // 2. Let the store request the rows if it has the batch; without a receipt, use the one in the
  // stored response.
  const auto accepted_rows =
      [&](const std::optional<std::string>& answer) -> Result<const store::AcceptedRows*> {
    if (shown) return AcceptedRowsOf(*shown, workspace);
    FIELDCOST_ASSIGN(const std::vector<std::uint32_t> kept, ReceiptIn(answer, batch, receipts_));
    return AcceptedRowsOf(kept, workspace);
  };
  const Result<bool> may_come = WouldBeAccepted(batch, agent_id);
  if (!may_come) return RefuseStoreFailure();
  const auto result = store_.Withdraw({.agent_id = agent_id,
                                       .epoch = batch.epoch,
                                       .sequence = batch.sequence,
                                       .rows = accepted_rows,
                                       .late_answer = LateAnswer(workspace.decoder.row_count()),
                                       .may_come = *may_come});
  // 3. Respond with the outcome.
  if (!result) return RefuseWithdrawal(result.error(), agent_id);
  CountWithdrawn(*result, *may_come);
  return AnswerJson(wire::EncodeWithdrawalAnswer({.withdrawn_rows = result->withdrawn_rows}));
}

http::Response Ingest::RefuseWithdrawal(const Error& error, const std::string& agent_id) {
  switch (error.code) {
    case ErrorCode::kPermissionDenied:
      ++counters_.bad_receipt;
      return Refuse(error);
    case ErrorCode::kIo:
      return RefuseStoreFailure();
    case ErrorCode::kUnavailable:
      ++counters_.too_many_undelivered;
      abuse_log_.Note(Abuse::kTooManyBatches, agent_id, clock_.Now());
      return TryLater(error, kUndeliveredRetryAfter);
    default:
      break;
  }
  ++counters_.not_withdrawable;
  // The message is not logged, since it may quote a row.
  if (error.code != ErrorCode::kNotFound) {
    LogEvent(LogLevel::kWarning, "withdrawal_refused", {{"reason", Name(error.code)}});
  }
  return Refuse(410, error);
}

void Ingest::CountWithdrawn(const store::WithdrawResult& result, bool may_come) {
  switch (result.kind) {
    case store::WithdrawalKind::kWithdrawn:
      ++counters_.withdrawn_batches;
      counters_.withdrawn_rows += result.withdrawn_rows;
      break;
    case store::WithdrawalKind::kNeverDelivered:
      counters_.withdrawn_before_arrival += may_come ? 1 : 0;
      break;
    case store::WithdrawalKind::kRepeated:
      ++counters_.repeated_withdrawals;
      break;
  }
}

}  // namespace fieldcost::ingest
