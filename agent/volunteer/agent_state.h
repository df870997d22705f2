#pragma once

#include <optional>

#include "agent/spool/batcher.h"
#include "agent/spool/spool_db.h"
#include "agent/spool/state_db.h"
#include "agent/upload/agent_keys.h"
#include "agent/upload/upload_lock.h"
#include "agent/upload/upload_schedule.h"
#include "agent/upload/uploader.h"
#include "agent/volunteer/agent.h"

namespace fieldcost::volunteer {

// Database keys for the state of the schedule (upload_schedule.h).
inline constexpr char kUploadSeedNumber[] = "upload_seed";
inline constexpr char kNextTryNumber[] = "next_upload";     // microseconds; 0 = never attempted
inline constexpr char kSlotsEpochNumber[] = "slots_epoch";  // the epoch whose slots are in use
inline constexpr char kFailedUploadsNumber[] = "failed_uploads";
inline constexpr char kUploadProblemText[] = "upload_problem";

// The state of an Agent, shared by the files that implement it and private to them.
struct Agent::State {
  State(settings::AgentPaths its_paths, settings::AgentConfig its_config, const Clock& its_clock);

  // Opened on first use, so that mode off creates no files.
  Status OpenDatabase();
  bool HasDatabase() const;
  // The consent in force; the user's own decision is in paths.consent_file().
  Result<settings::Consent> LoadDecision() const { return settings::EffectiveConsent(paths); }

  // REQUIRES, for all functions below: the database is open.
  Result<upload::UploadState> LoadUploadState(WallTime now);
  // The same, with next_try corrected by NextTryInNewEpoch() or CorrectNextTry() if necessary.
  Result<upload::UploadState> LoadCorrectedUploadState(WallTime now);
  Status NewUploadSeed();
  Status SaveUploadState(const upload::UploadState& upload, std::string_view problem);
  Status KeepNeededKeys();

  // The steps of Upload(), in this order. Ages batches, and drops those beyond the limits.
  Status AgeSpool(WallTime now);
  // Whether an upload is due and the machine's power and connection permit it.
  Result<bool> MayUploadNow(const upload::UploadState& upload, WallTime now);
  // nullopt if another process is uploading or has just done so. Reloads `upload`.
  Result<std::optional<upload::UploadLock>> TakeTurn(UploadWish wish, WallTime now,
                                                     upload::UploadState& upload);
  Status SendWaiting(UploadWish wish, const upload::UploadState& upload, spool::Batcher& batcher,
                     upload::UploadReport& report);
  // Records the outcome and sets the time of the next attempt.
  Status NoteOutcome(upload::UploadState upload, WallTime now, upload::UploadReport& report);

  const settings::AgentPaths paths;
  const settings::AgentConfig config;
  const Clock* clock;
  std::optional<spool::StateDb> database;
  std::optional<spool::SpoolDb> spool;  // in the database
  upload::AgentKeys keys;
  upload::Uploader uploader;
};

}  // namespace fieldcost::volunteer
