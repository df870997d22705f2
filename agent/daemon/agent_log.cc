// What the user sees and takes back: the part of Agent about the log of batches.
#include <algorithm>

#include "agent/daemon/agent_state.h"
#include "agent/spool/batcher.h"
#include "agent/upload/service_requests.h"
#include "agent/upload/upload_lock.h"
#include "agent/upload/withdrawer.h"
#include "common/base/log.h"

namespace fieldcost::agent {
namespace {

// That a user's wish waits for a daemon that uploads; a request may take a minute.
constexpr std::chrono::seconds kForgetWaits{90};

Result<PendingBatch> DecodeSpooled(SpooledBatch batch) {
  wire::BatchDecoder decoder;
  FIELDCOST_TRY(decoder.Decode(batch.body));
  PendingBatch decoded;
  decoded.sequence = batch.sequence;
  decoded.raw = std::move(batch.body);
  decoded.content.field_policy_version = decoder.field_policy_version();
  decoded.content.hardware = decoder.hardware();
  wire::UntrustedRow row;
  for (std::size_t i = 0; i < decoder.row_count(); ++i) {
    decoder.GetRow(i, row);
    decoded.content.rows.push_back({.api = row.api,
                                    .metric = static_cast<stats::Metric>(row.metric_number),
                                    .week = row.week,
                                    .first_contribution = row.first_contribution,
                                    .histogram = row.histogram});
  }
  return decoded;
}

}  // namespace

Result<std::optional<PendingBatch>> Agent::Preview() const {
  std::optional<PendingBatch> preview;
  FIELDCOST_ASSIGN(const Consent consent, state_->LoadDecision());
  if (consent.mode != Mode::kOn || !state_->HasDatabase()) return preview;
  FIELDCOST_TRY(state_->OpenDatabase());
  StateDb& database = *state_->database;
  FIELDCOST_ASSIGN(std::optional<SpooledBatch> queued, state_->spool->FirstQueued());
  if (queued) {
    FIELDCOST_ASSIGN(preview, DecodeSpooled(std::move(*queued)));
    return preview;
  }
  Batcher batcher(paths(), config(), *state_->clock, database);
  FIELDCOST_ASSIGN(std::optional<BuiltBatch> built, batcher.Preview());
  if (!built) return preview;
  FIELDCOST_ASSIGN(const BatchNumber number, state_->spool->NextNumber(built->epoch));
  preview.emplace(PendingBatch{.content = std::move(built->content),
                               .raw = std::move(built->body),
                               .sequence = number.sequence});
  return preview;
}

Result<std::vector<LoggedBatch>> Agent::Log() const {
  if (!state_->HasDatabase()) return std::vector<LoggedBatch>();
  FIELDCOST_TRY(state_->OpenDatabase());
  return state_->spool->Log();
}

Result<PendingBatch> Agent::ReadBatch(std::uint64_t id) const {
  std::optional<SpooledBatch> batch;
  if (state_->HasDatabase()) {
    FIELDCOST_TRY(state_->OpenDatabase());
    FIELDCOST_ASSIGN(batch, state_->spool->Find(id));
  }
  if (!batch) return Fail(ErrorCode::kNotFound, "there is no batch {}", id);
  if (batch->body.empty()) {
    return Fail(ErrorCode::kNotFound, "the bytes of batch {} are no longer kept", id);
  }
  auto decoded = DecodeSpooled(std::move(*batch));
  if (!decoded) return Within(decoded.error(), fmt::format("batch {}", id));
  return decoded;
}

Result<ForgetReport> Agent::Forget(const ForgetProgress& progress) {
  ForgetReport report;
  FIELDCOST_ASSIGN(const Consent consent, state_->LoadDecision());
  if (!state_->HasDatabase()) return report;
  FIELDCOST_TRY(state_->OpenDatabase());
  SpoolDb& spool = *state_->spool;
  FIELDCOST_ASSIGN(const auto lock, UploadLock::Take(paths(), kForgetWaits));
  if (!lock) {
    report.stopped_by = Fail(ErrorCode::kUnavailable, "forget: another process is uploading");
    return report;
  }
  if (consent.mode != Mode::kOff) {
    // What has been measured up to now is forgotten too, not sent later.
    const auto harvest = Harvest();
    if (!harvest) LogWarning("forget: {}", harvest.error().message);
  }
  {
    FIELDCOST_ASSIGN(sqlite::Transaction transaction, state_->database->Begin());
    FIELDCOST_ASSIGN(const std::uint64_t deleted,
                     spool.DropUnsent("forgotten", state_->clock->Now()));
    FIELDCOST_TRY(transaction.Commit());
    report.batches_deleted = static_cast<std::uint32_t>(deleted);
  }
  FIELDCOST_TRY(Withdrawer(paths(), config(), *state_->clock)
                    .WithdrawAll(spool, *state_->database, progress, report));
  FIELDCOST_ASSIGN(const std::uint64_t too_old, spool.CountTooOld());
  report.batches_too_old = static_cast<std::uint32_t>(too_old);
  FIELDCOST_TRY(state_->KeepNeededKeys());
  return report;
}

Status Agent::SetEnrolmentToken(std::string_view token) {
  return SaveEnrolmentToken(paths(), token);
}

}  // namespace fieldcost::agent
