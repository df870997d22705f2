#include "agent/upload/withdrawer.h"

#include "agent/upload/answer_action.h"
#include "agent/upload/service_requests.h"
#include "common/wire/wire_requests.h"

namespace fieldcost::upload {
namespace {

void Refuse(const std::string& reason, ForgetReport& report) {
  if (report.batches_refused++ == 0) report.refused_reason = reason;
}

}  // namespace

Withdrawer::Withdrawer(const settings::AgentPaths& paths, const settings::AgentConfig& config,
                       const Clock& clock)
    : config_(&config), paths_(&paths), clock_(&clock), keys_(paths) {}

Status Withdrawer::WithdrawAll(spool::SpoolDb& spool, spool::StateDb& state,
                               const ForgetProgress& progress, ForgetReport& report) {
  EpochConnection connection(*paths_, *config_, nullptr);
  std::uint64_t last = 0;
  for (;;) {
    FIELDCOST_ASSIGN(const std::optional<spool::SpooledBatch> batch, spool.NextToWithdraw(last));
    if (!batch) return {};
    last = batch->id;
    if (report.stopped_by) {
      ++report.batches_left;
      continue;
    }
    if (config_->url.empty()) {
      report.stopped_by =
          Fail(ErrorCode::kInvalidArgument, "withdraw: [aggregator] url is not set in {}",
               paths_->config_file.string());
    } else if (const Status connected = connection.Connect(batch->epoch); !connected) {
      report.stopped_by = Within(connected.error(), "withdraw");
    }
    if (!report.stopped_by) FIELDCOST_TRY(WithdrawOne(spool, state, connection, *batch, report));
    if (report.stopped_by) ++report.batches_left;
    if (progress) progress(report);
  }
}

Status Withdrawer::WithdrawOne(spool::SpoolDb& spool, spool::StateDb& state,
                               EpochConnection& connection, const spool::SpooledBatch& batch,
                               ForgetReport& report) {
  if (!keys_.Has(batch.epoch)) {
    FIELDCOST_TRY(spool.NoteRefusal(batch.id, kKeyIsGone));
    Refuse(kKeyIsGone, report);
    return {};
  }
  FIELDCOST_ASSIGN(const crypto::PrivateKey key, keys_.For(batch.epoch));
  http::Client& client = connection.client();
  const auto response = client.Send(MakeWithdrawalRequest(connection.service(), key, batch));
  if (!response) {
    report.stopped_by = Within(response.error(), "withdraw");
    return {};
  }
  switch (ActionFor(response->status)) {  // the statuses have the same meaning
    case AnswerAction::kAccept: {
      const auto answer = wire::DecodeWithdrawalAnswer(response->body);
      if (!answer) {
        report.stopped_by = NotFromAggregator("withdraw from", client, answer.error());
        return {};
      }
      FIELDCOST_ASSIGN(sqlite::Transaction transaction, state.Begin());
      FIELDCOST_TRY(spool.MarkWithdrawn(batch.id, clock_->Now()));
      FIELDCOST_TRY(transaction.Commit());
      if (answer->withdrawn_rows == 0 && batch.state != spool::SpoolState::kSent) {
        ++report.batches_deleted;
      } else {
        ++report.batches_withdrawn;
        report.rows_withdrawn += answer->withdrawn_rows;
      }
      return {};
    }
    case AnswerAction::kQuarantine: {
      const std::string reason = http::DescribeAnswer(*response);
      FIELDCOST_TRY(spool.NoteRefusal(batch.id, reason));
      Refuse(reason, report);
      return {};
    }
    case AnswerAction::kRetryLater:
      break;
  }
  report.stopped_by = TryLater("withdraw from", client, *response);
  return {};
}

}  // namespace fieldcost::upload
