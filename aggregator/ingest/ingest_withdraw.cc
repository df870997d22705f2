#include <algorithm>

#include "aggregator/ingest/row_check.h"
#include "aggregator/ingest/workspace.h"
#include "common/base/log.h"
#include "common/wire/limits.h"
#include "common/wire/requests.h"

namespace fieldcost::ingest {
namespace {

// What a batch is told that comes after its withdrawal.
std::string LateAnswer(std::size_t row_count) {
  wire::BatchAnswer answer{.rejected_rows = static_cast<std::uint32_t>(row_count)};
  if (row_count != 0) {
    answer.rejects.push_back({.row = 0, .reason = "the batch was withdrawn before it came"});
  }
  return wire::EncodeAnswer(answer);
}

// The receipt of a batch whose agent has shown none, from the answer we gave it.
Result<ReceiptContent> ReceiptIn(const std::optional<std::string>& answer,
                                 const BatchIdentity& batch, const Receipts& receipts) {
  if (!answer) {
    return Fail(ErrorCode::kNotFound, "the batch is too old to be withdrawn without its receipt");
  }
  FIELDCOST_ASSIGN(const wire::BatchAnswer decoded, wire::DecodeAnswer(*answer));
  if (decoded.receipt.empty()) {
    return Fail(ErrorCode::kNotFound,
                "the batch was accepted before this server gave receipts; it cannot be withdrawn");
  }
  auto receipt = receipts.Open(decoded.receipt, batch);
  if (!receipt) {
    return Fail(ErrorCode::kPermissionDenied, "the body is not the one that was accepted");
  }
  return receipt;
}

}  // namespace

http::Response Ingest::WithdrawBatch(const BatchIdentity& batch, const std::string& agent_id,
                                     std::string_view untrusted_receipt, Workspace& workspace) {
  const bool has_receipt = !untrusted_receipt.empty();
  ReceiptContent receipt;
  if (has_receipt) {
    auto opened = receipts_.Open(untrusted_receipt, batch);
    if (!opened) {
      ++counters_.bad_receipt;
      abuse_log_.Note(Abuse::kForeignReceipt, agent_id, clock_.Now());
      return Refuse(opened.error());
    }
    receipt = std::move(*opened);
  }
  const auto accepted_rows =
      [&](const std::optional<std::string>& answer) -> Result<const store::AcceptedRows*> {
    if (!has_receipt) {
      FIELDCOST_ASSIGN(receipt, ReceiptIn(answer, batch, receipts_));
    }
    const std::vector<std::uint32_t>& refused = receipt.refused_rows;
    workspace.Start();
    for (std::size_t index = 0; index < workspace.decoder.row_count(); ++index) {
      if (std::binary_search(refused.begin(), refused.end(), index)) continue;
      workspace.decoder.GetRow(index, workspace.row);
      FIELDCOST_TRY(CheckRowContent(workspace.row));
      workspace.MakeKey();
      workspace.accepted.Add(
          workspace.key_bytes, workspace.row.histogram,
          workspace.row.first_contribution ? receipt.first : store::Contribution::kNone);
    }
    return &workspace.accepted;
  };
  bool may_come = !admission_.IsRevoked(agent_id) && CheckEpoch(batch.epoch);
  if (may_come && admission_.mode() == EnrolmentMode::kToken) {
    const auto enrolled = store_.IsEnrolled(agent_id, batch.epoch);
    if (!enrolled) return RefuseStoreFailure();
    may_come = *enrolled;
  }
  const auto result = store_.Withdraw({.agent_id = agent_id,
                                       .epoch = batch.epoch,
                                       .sequence = batch.sequence,
                                       .rows = accepted_rows,
                                       .late_answer = LateAnswer(workspace.decoder.row_count()),
                                       .may_come = may_come});
  if (!result) {
    const Error& error = result.error();
    if (error.code == ErrorCode::kPermissionDenied) {
      ++counters_.bad_receipt;
      return Refuse(error);
    }
    if (error.code == ErrorCode::kIo) return RefuseStoreFailure();
    if (error.code == ErrorCode::kUnavailable) {
      ++counters_.too_many_undelivered;
      abuse_log_.Note(Abuse::kTooManyBatches, agent_id, clock_.Now());
      return TryLater(error, kUndeliveredRetryAfter);
    }
    ++counters_.not_withdrawable;
    // Not the message: it may quote a row.
    if (error.code != ErrorCode::kNotFound) {
      LogEvent(LogLevel::kWarning, "withdrawal_refused", {{"reason", Name(error.code)}});
    }
    return Refuse(410, error);
  }
  switch (result->kind) {
    case store::WithdrawalKind::kTakenAway:
      ++counters_.withdrawn_batches;
      counters_.withdrawn_rows += result->withdrawn_rows;
      break;
    case store::WithdrawalKind::kNeverDelivered:
      counters_.withdrawn_before_arrival += may_come ? 1 : 0;
      break;
    case store::WithdrawalKind::kRepeated:
      ++counters_.repeated_withdrawals;
      break;
  }
  return AnswerJson(wire::EncodeWithdrawalAnswer({.withdrawn_rows = result->withdrawn_rows}));
}

}  // namespace fieldcost::ingest
