// The part of Agent that shows the log of batches and withdraws them.
#include <algorithm>

#include "agent/spool/batcher.h"
#include "agent/upload/service_requests.h"
#include "agent/upload/upload_lock.h"
#include "agent/upload/withdrawer.h"
#include "agent/volunteer/agent_state.h"
#include "common/base/log.h"
#include "common/wire/epoch.h"

namespace fieldcost::volunteer {
namespace {

Result<BatchDetails> DetailsOf(spool::SpooledBatch batch) {
  FIELDCOST_ASSIGN(wire::BatchContent content, wire::DecodeBatch(batch.body));
  return BatchDetails{
      .content = std::move(content), .raw = std::move(batch.body), .sequence = batch.sequence};
}

}  // namespace

Result<std::optional<BatchDetails>> Agent::Preview() const {
  std::optional<BatchDetails> preview;
  FIELDCOST_ASSIGN(const settings::Consent consent, state_->LoadDecision());
  if (consent.mode != settings::Mode::kOn || !state_->HasDatabase()) return preview;
  FIELDCOST_TRY(state_->OpenDatabase());
  spool::StateDb& database = *state_->database;
  FIELDCOST_ASSIGN(std::optional<spool::SpooledBatch> queued, state_->spool->FirstQueued());
  if (queued) {
    FIELDCOST_ASSIGN(preview, DetailsOf(std::move(*queued)));
    return preview;
  }
  spool::Batcher batcher(paths(), config(), *state_->clock, database);
  FIELDCOST_ASSIGN(std::optional<spool::BuiltBatch> built, batcher.Preview());
  if (!built) return preview;
  FIELDCOST_ASSIGN(const spool::BatchNumber number,
                   state_->spool->NextNumber(wire::EpochOfWeek(built->content.rows.front().week)));
  preview.emplace(BatchDetails{.content = std::move(built->content),
                               .raw = std::move(built->body),
                               .sequence = number.sequence});
  return preview;
}

Result<std::vector<spool::LoggedBatch>> Agent::Log() const {
  if (!state_->HasDatabase()) return std::vector<spool::LoggedBatch>();
  FIELDCOST_TRY(state_->OpenDatabase());
  return state_->spool->Log();
}

Result<BatchDetails> Agent::ReadBatch(std::uint64_t id) const {
  std::optional<spool::SpooledBatch> batch;
  if (state_->HasDatabase()) {
    FIELDCOST_TRY(state_->OpenDatabase());
    FIELDCOST_ASSIGN(batch, state_->spool->Find(id));
  }
  if (!batch) return Fail(ErrorCode::kNotFound, "there is no batch {}", id);
  if (batch->body.empty()) {
    return Fail(ErrorCode::kNotFound, "the bytes of batch {} are no longer kept", id);
  }
  auto decoded = DetailsOf(std::move(*batch));
  if (!decoded) return Within(decoded.error(), fmt::format("batch {}", id));
  return decoded;
}

Result<upload::ForgetReport> Agent::Forget(const upload::ForgetProgress& progress) {
  upload::ForgetReport report;
  FIELDCOST_ASSIGN(const settings::Consent consent, state_->LoadDecision());
  if (!state_->HasDatabase()) return report;
  FIELDCOST_TRY(state_->OpenDatabase());
  spool::SpoolDb& spool = *state_->spool;
  FIELDCOST_ASSIGN(const auto lock, upload::UploadLock::Take(paths(), upload::kUserWaits));
  if (!lock) {
    report.stopped_by = Fail(ErrorCode::kUnavailable, "forget: another process is uploading");
    return report;
  }
  if (consent.mode != settings::Mode::kOff) {
    // Harvest first, so that what has been measured so far is forgotten, too, and not sent later.
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
  FIELDCOST_TRY(upload::Withdrawer(paths(), config(), *state_->clock)
                    .WithdrawAll(spool, *state_->database, progress, report));
  FIELDCOST_ASSIGN(const std::uint64_t too_old, spool.CountTooOld());
  report.batches_too_old = static_cast<std::uint32_t>(too_old);
  FIELDCOST_TRY(state_->KeepNeededKeys());
  return report;
}

Status Agent::SetEnrolmentToken(std::string_view token) {
  return upload::SaveEnrolmentToken(paths(), token);
}

}  // namespace fieldcost::volunteer
