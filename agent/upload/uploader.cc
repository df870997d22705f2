#include "agent/upload/uploader.h"

#include <fmt/format.h>

#include "agent/settings/consent.h"
#include "agent/upload/answer_action.h"
#include "agent/upload/service_requests.h"
#include "common/base/log.h"
#include "common/wire/batch.h"
#include "common/wire/epoch.h"
#include "common/wire/wire_requests.h"

namespace fieldcost::upload {

Uploader::Uploader(const settings::AgentPaths& paths, const settings::AgentConfig& config,
                   const Clock& clock)
    : paths_(&paths),
      config_(&config),
      clock_(&clock),
      keys_(paths),
      connection_(paths, config, [paths = paths_] { return settings::CheckMaySend(*paths); }) {}

Status Uploader::Send(spool::SpoolDb& spool, spool::StateDb& state, std::uint32_t max_batches,
                      Epochs epochs, UploadReport& report) {
  for (std::uint32_t i = 0; i < max_batches && !report.stopped_by; ++i) {
    FIELDCOST_ASSIGN(const settings::Consent consent, settings::EffectiveConsent(*paths_));
    if (consent.mode != settings::Mode::kOn) break;
    FIELDCOST_ASSIGN(const std::optional<spool::SpooledBatch> batch, spool.FirstQueued());
    if (!batch) break;
    const bool has_talked = report.batches_sent + report.batches_quarantined > 0;
    if (connection_.IsOfAnother(batch->epoch) && has_talked && epochs == Epochs::kOne) break;
    if (const Status connected = connection_.Connect(batch->epoch); !connected) {
      report.stopped_by = Within(connected.error(), "upload");
      break;
    }
    FIELDCOST_TRY(SendOne(spool, state, *batch, report));
  }
  return {};
}

Status Uploader::ContributeAgain(spool::StateDb& state, const spool::SpooledBatch& batch,
                                 const wire::BatchAnswer& untrusted_answer) {
  if (untrusted_answer.rejects.empty()) return {};
  wire::BatchDecoder decoder;
  if (!decoder.Decode(batch.body)) return {};
  wire::BatchRow row;
  for (const wire::BatchAnswer::Reject& reject : untrusted_answer.rejects) {
    if (reject.row >= decoder.row_count() || !decoder.GetRow(reject.row, row)) continue;
    if (row.first_contribution) continue;
    FIELDCOST_TRY(state.DropContributed({.api = row.api, .metric = row.metric, .week = row.week},
                                        stats::DisplayName(decoder.hardware())));
  }
  return {};
}

Status Uploader::NoteAnswer(spool::SpoolDb& spool, spool::StateDb& state,
                            const spool::SpooledBatch& batch, std::string_view untrusted_body,
                            UploadReport& report) {
  const auto answer = wire::DecodeAnswer(untrusted_body);
  if (!answer) {
    report.stopped_by = NotFromAggregator("upload to", connection_.client(), answer.error());
    return {};
  }
  FIELDCOST_ASSIGN(sqlite::Transaction transaction, state.Begin());
  FIELDCOST_TRY(spool.MarkSent(batch.id, *answer, clock_->Now()));
  FIELDCOST_TRY(ContributeAgain(state, batch, *answer));
  FIELDCOST_TRY(spool.DropOldBytes(config_->max_sent_bytes));
  FIELDCOST_TRY(transaction.Commit());
  ++report.batches_sent;
  report.rows_sent += answer->accepted_rows + answer->rejected_rows;
  report.rows_rejected += answer->rejected_rows;
  return {};
}

Status Uploader::SetAsideWithoutKey(spool::SpoolDb& spool, spool::StateDb& state,
                                    const spool::SpooledBatch& batch, UploadReport& report) {
  FIELDCOST_ASSIGN(sqlite::Transaction transaction, state.Begin());
  // Counts an attempt although none is made: with more than one, the batch remains known as one
  // that may have arrived.
  FIELDCOST_TRY(spool.MarkAttempted(batch.id));
  FIELDCOST_TRY(spool.MarkQuarantined(batch.id, kKeyIsGone, clock_->Now()));
  FIELDCOST_TRY(transaction.Commit());
  ++report.batches_quarantined;
  return {};
}

Status Uploader::SetAsideRefused(spool::SpoolDb& spool, spool::StateDb& state,
                                 const spool::SpooledBatch& batch, const std::string& reason,
                                 UploadReport& report) {
  FIELDCOST_ASSIGN(sqlite::Transaction transaction, state.Begin());
  FIELDCOST_TRY(spool.MarkQuarantined(batch.id, reason, clock_->Now()));
  FIELDCOST_TRY(transaction.Commit());
  LogWarning("batch {} is refused by {} and set aside: {}", batch.id, connection_.client().origin(),
             reason);
  ++report.batches_quarantined;
  return {};
}

Status Uploader::SendOne(spool::SpoolDb& spool, spool::StateDb& state,
                         const spool::SpooledBatch& batch, UploadReport& report) {
  if (batch.attempts > 0 && batch.epoch != wire::kFirstEpoch && !keys_.Has(batch.epoch)) {
    return SetAsideWithoutKey(spool, state, batch, report);
  }
  FIELDCOST_ASSIGN(const crypto::PrivateKey key, keys_.For(batch.epoch));
  FIELDCOST_ASSIGN(const bool is_queued, spool.MarkAttempted(batch.id));
  if (!is_queued) return {};
  const auto response = Exchange(key, batch);
  if (!response) {
    if (!connection_.client().has_sent_all()) {
      FIELDCOST_ASSIGN(sqlite::Transaction transaction, state.Begin());
      FIELDCOST_TRY(spool.TakeBackAttempt(batch.id));
      FIELDCOST_TRY(transaction.Commit());
    }
    report.stopped_by = Within(response.error(), "upload");
    return {};
  }
  switch (ActionFor(response->status)) {
    case AnswerAction::kAccept:
      return NoteAnswer(spool, state, batch, response->body, report);
    case AnswerAction::kQuarantine:
      return SetAsideRefused(spool, state, batch, http::DescribeAnswer(*response), report);
    case AnswerAction::kRetryLater:
      break;
  }
  report.stopped_by = TryLater("upload to", connection_.client(), *response);
  report.retry_after = http::ParseRetryAfter(http::Find(response->headers, "Retry-After"));
  return {};
}

Result<http::Response> Uploader::Exchange(const crypto::PrivateKey& key,
                                          const spool::SpooledBatch& batch) {
  const http::Request request = MakeBatchRequest(connection_.service(), key, batch);
  FIELDCOST_ASSIGN(http::Response response, connection_.client().Send(request));
  if (!AsksForEnrolment(response)) return response;
  FIELDCOST_TRY(Enrol(key, batch.epoch));
  FIELDCOST_ASSIGN(response, connection_.client().Send(request));
  if (!AsksForEnrolment(response)) return response;
  return Fail(ErrorCode::kUnavailable, "{} requests enrolment again, right after one",
              connection_.client().origin());
}

Status Uploader::Enrol(const crypto::PrivateKey& key, wire::Epoch epoch) {
  FIELDCOST_ASSIGN(const std::string token, LoadEnrolmentToken(*paths_));
  FIELDCOST_ASSIGN(const http::Response response, connection_.client().Send(MakeEnrolmentRequest(
                                                      connection_.service(), key, epoch, token)));
  if (response.status == 200) return {};
  const Error refused = TryLater("enrol with", connection_.client(), response);
  if (ActionFor(response.status) != AnswerAction::kQuarantine) return refused;
  return Fail(ErrorCode::kPermissionDenied,
              "{}; batches wait until \"fieldcost agent enrol --token-file FILE\" stores a token "
              "from the service's operator",
              refused.message);
}

}  // namespace fieldcost::upload
