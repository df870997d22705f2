// The part of Agent that previews, sends and schedules batches.
#include <algorithm>
#include <limits>

#include "agent/settings/pause.h"
#include "agent/spool/batcher.h"
#include "agent/upload/power.h"
#include "agent/upload/upload_lock.h"
#include "agent/volunteer/agent_state.h"
#include "common/base/clock.h"
#include "common/crypto/random.h"
#include "common/wire/epoch.h"

namespace fieldcost::volunteer {
namespace {

constexpr std::uint32_t kMaxSentByFlush = 1024;
// How long an upload is postponed while the machine should not upload.
constexpr std::chrono::hours kPutOff{1};

bool IsDue(const upload::UploadState& upload, WallTime now) {
  const std::optional<WallTime> next = upload::NextUploadTime(upload, now);
  return next && *next <= now;
}

}  // namespace

Result<upload::UploadState> Agent::State::LoadUploadState(WallTime now) {
  upload::UploadState upload;
  upload.max_age = std::chrono::hours(config.max_batch_age_hours);
  upload.min_interval = config.min_upload_interval;
  FIELDCOST_ASSIGN(const std::uint64_t seed, database->Get(kUploadSeedNumber, 0));
  // New slots with each new key; the same slots would link the epochs.
  upload.seed = seed ^ (wire::EpochOf(now).value() << 32);
  FIELDCOST_ASSIGN(upload.oldest_pending, database->OldestPending());
  FIELDCOST_ASSIGN(const spool::SpoolPace pace, spool->Pace(now));
  upload.queued = pace.queued;
  upload.oldest_queued = pace.oldest_queued;
  upload.made_last_week = pace.made_last_week;
  FIELDCOST_ASSIGN(const std::uint64_t failures, database->Get(kFailedUploadsNumber, 0));
  upload.failures = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(failures, std::numeric_limits<std::uint32_t>::max()));
  FIELDCOST_ASSIGN(const std::uint64_t next_try, database->Get(kNextTryNumber, 0));
  upload.next_try = TimeOfMicros(next_try);
  return upload;
}

Result<upload::UploadState> Agent::State::LoadCorrectedUploadState(WallTime now) {
  FIELDCOST_ASSIGN(sqlite::Transaction transaction, database->Begin());
  FIELDCOST_ASSIGN(upload::UploadState upload, LoadUploadState(now));
  FIELDCOST_ASSIGN(const std::uint64_t slots_epoch, database->Get(kSlotsEpochNumber, 0));
  if (slots_epoch != wire::EpochOf(now).value()) {
    FIELDCOST_TRY(database->Set(kSlotsEpochNumber, wire::EpochOf(now).value()));
    if (slots_epoch != 0) {
      upload.next_try = upload::NextTryInNewEpoch(upload, now, crypto::RandomUint64());
      FIELDCOST_TRY(database->Set(kNextTryNumber, MicrosOf(upload.next_try)));
    }
  }
  if (const auto corrected = upload::CorrectNextTry(upload, now, crypto::RandomUint64())) {
    FIELDCOST_TRY(database->Set(kNextTryNumber, MicrosOf(corrected->next_try)));
    if (corrected->new_slots) FIELDCOST_TRY(NewUploadSeed());
    FIELDCOST_ASSIGN(upload, LoadUploadState(now));
  }
  FIELDCOST_TRY(transaction.Commit());
  return upload;
}

Status Agent::State::NewUploadSeed() {
  return database->Set(kUploadSeedNumber, crypto::RandomUint64() >> 1);  // the maximum of SQLite
}

Status Agent::State::SaveUploadState(const upload::UploadState& upload, std::string_view problem) {
  FIELDCOST_ASSIGN(sqlite::Transaction transaction, database->Begin());
  FIELDCOST_TRY(database->Set(kNextTryNumber, MicrosOf(upload.next_try)));
  FIELDCOST_TRY(database->Set(kFailedUploadsNumber, upload.failures));
  FIELDCOST_TRY(database->SetText(kUploadProblemText, problem));
  return transaction.Commit();
}

Status Agent::State::KeepNeededKeys() {
  FIELDCOST_ASSIGN(std::vector<wire::Epoch> epochs, spool->EpochsInUse());
  FIELDCOST_ASSIGN(const wire::Epoch current, spool->LastEpoch());
  epochs.push_back(current);
  FIELDCOST_TRY(spool->KeepClasses(epochs));
  return keys.Keep(epochs);
}

Result<std::optional<WallTime>> Agent::NextUpload() const {
  std::optional<WallTime> next;
  FIELDCOST_ASSIGN(const settings::Consent consent, state_->LoadDecision());
  if (consent.mode != settings::Mode::kOn || config().url.empty() || !state_->HasDatabase())
    return next;
  FIELDCOST_TRY(state_->OpenDatabase());
  const WallTime now = state_->clock->Now();
  FIELDCOST_ASSIGN(const upload::UploadState upload, state_->LoadCorrectedUploadState(now));
  return upload::NextUploadTime(upload, now);
}

Status Agent::State::AgeSpool(WallTime now) {
  FIELDCOST_ASSIGN(sqlite::Transaction transaction, database->Begin());
  FIELDCOST_TRY(spool->GrowOlder(now));
  FIELDCOST_TRY(spool->DropExcess(std::chrono::hours(24 * config.max_spool_age_days),
                                  config.max_spool_bytes, now));
  FIELDCOST_TRY(spool->DropOldBytes(config.max_sent_bytes));
  return transaction.Commit();
}

Result<bool> Agent::State::MayUploadNow(const upload::UploadState& upload, WallTime now) {
  if (!IsDue(upload, now)) return false;
  if (upload::WaitReason(paths, config, now).empty()) return true;
  FIELDCOST_TRY(database->Set(kNextTryNumber, MicrosOf(now + kPutOff)));
  return false;
}

Result<std::optional<upload::UploadLock>> Agent::State::TakeTurn(UploadWish wish, WallTime now,
                                                                 upload::UploadState& upload) {
  const bool flush = wish == UploadWish::kEverythingNow;
  FIELDCOST_ASSIGN(
      std::optional<upload::UploadLock> lock,
      upload::UploadLock::Take(paths, flush ? upload::kUserWaits : std::chrono::seconds(0)));
  // The previous holder may have sent everything; the current holder sets the next attempt.
  FIELDCOST_ASSIGN(upload, LoadUploadState(now));
  if (!lock && !flush) {
    upload.next_try =
        upload::NextTryAfterFailure(upload, now, crypto::RandomUint64(), std::nullopt);
    FIELDCOST_TRY(database->Set(kNextTryNumber, MicrosOf(upload.next_try)));
  }
  if (lock && !flush && !IsDue(upload, now)) lock.reset();
  return lock;
}

// Sends queued batches and then, if all of them have been sent, pending rows.
Status Agent::State::SendWaiting(UploadWish wish, const upload::UploadState& upload,
                                 spool::Batcher& batcher, upload::UploadReport& report) {
  const bool flush = wish == UploadWish::kEverythingNow;
  const std::uint32_t limit = flush ? kMaxSentByFlush : upload::BatchesAtOnce(upload);
  const auto epochs = flush ? upload::Uploader::Epochs::kAll : upload::Uploader::Epochs::kOne;
  FIELDCOST_TRY(uploader.Send(*spool, *database, limit, epochs, report));
  FIELDCOST_ASSIGN(const spool::SpoolTotals left, spool->Totals());
  const std::uint32_t sent = report.batches_sent + report.batches_quarantined;
  if (report.stopped_by || left.queued != 0 || sent >= limit) return {};
  FIELDCOST_TRY(batcher.Spool(spool::SpoolWhat::kAll));
  return uploader.Send(*spool, *database, limit - sent, epochs, report);
}

Status Agent::State::NoteOutcome(upload::UploadState upload, WallTime now,
                                 upload::UploadReport& report) {
  FIELDCOST_ASSIGN(const spool::SpoolPace left, spool->Pace(now));
  report.batches_left = static_cast<std::uint32_t>(left.queued);
  // Consent was withdrawn meanwhile: not a failure.
  if (report.stopped_by && !settings::CheckMaySend(paths)) return {};
  upload.queued = left.queued;
  upload.failures = report.stopped_by ? upload.failures + 1 : 0;
  upload.next_try = report.stopped_by ? upload::NextTryAfterFailure(
                                            upload, now, crypto::RandomUint64(), report.retry_after)
                                      : upload::NextTryAfterSuccess(upload, now);
  FIELDCOST_TRY(SaveUploadState(upload, report.stopped_by ? report.stopped_by->message : ""));
  return KeepNeededKeys();
}

Result<upload::UploadReport> Agent::Upload(UploadWish wish) {
  State& state = *state_;
  upload::UploadReport report;
  FIELDCOST_ASSIGN(const settings::Consent consent, state.LoadDecision());
  if (consent.mode != settings::Mode::kOn) return report;
  FIELDCOST_TRY(state.OpenDatabase());
  const WallTime now = state.clock->Now();
  FIELDCOST_TRY(state.AgeSpool(now));
  spool::Batcher batcher(paths(), config(), *state.clock, *state.database);
  FIELDCOST_TRY(batcher.Spool(spool::SpoolWhat::kFull));
  FIELDCOST_ASSIGN(upload::UploadState upload, state.LoadCorrectedUploadState(now));
  report.batches_left = static_cast<std::uint32_t>(upload.queued);
  if (!upload.oldest_pending && upload.queued == 0) return report;
  if (wish == UploadWish::kEverythingNow && settings::PausedUntil(paths(), now)) {
    report.stopped_by =
        Fail(ErrorCode::kPermissionDenied, "upload: sending is paused (fieldcost agent resume)");
    return report;
  }
  if (config().url.empty()) {
    report.stopped_by =
        Fail(ErrorCode::kInvalidArgument, "upload: [aggregator] url is not set in {}; {}",
             paths().config_file.string(), config().HowToJoin());
    return report;
  }
  if (wish == UploadWish::kWhatIsDue) {
    FIELDCOST_ASSIGN(const bool may, state.MayUploadNow(upload, now));
    if (!may) return report;
  }
  FIELDCOST_ASSIGN(const std::optional<upload::UploadLock> lock, state.TakeTurn(wish, now, upload));
  if (!lock) {
    if (wish == UploadWish::kEverythingNow) {
      report.stopped_by = Fail(ErrorCode::kUnavailable, "upload: another process is uploading");
    }
    return report;
  }
  FIELDCOST_TRY(state.SendWaiting(wish, upload, batcher, report));
  FIELDCOST_TRY(state.NoteOutcome(upload, now, report));
  return report;
}

}  // namespace fieldcost::volunteer
