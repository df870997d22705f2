#pragma once

#include <optional>

#include "agent/daemon/agent.h"
#include "agent/spool/batcher.h"
#include "agent/spool/spool_db.h"
#include "agent/spool/state_db.h"
#include "agent/upload/agent_keys.h"
#include "agent/upload/upload_lock.h"
#include "agent/upload/upload_schedule.h"
#include "agent/upload/uploader.h"

namespace fieldcost::agent {

// Names in the database of what the schedule keeps (upload_schedule.h).
inline constexpr char kUploadSeedNumber[] = "upload_seed";
inline constexpr char kNextTryNumber[] = "next_upload";     // microseconds; 0 = never tried
inline constexpr char kSlotsEpochNumber[] = "slots_epoch";  // whose slots are in use
inline constexpr char kFailedUploadsNumber[] = "failed_uploads";
inline constexpr char kUploadProblemText[] = "upload_problem";

// What the files that implement Agent share; for them only.
struct Agent::State {
  State(AgentPaths its_paths, AgentConfig its_config, const Clock& its_clock);

  // Opened when first needed, so that mode off leaves nothing behind.
  Status OpenDatabase();
  bool HasDatabase() const;
  // What is in force; the user's own decision is in paths.consent_file().
  Result<Consent> LoadDecision() const { return EffectiveConsent(paths); }

  // The database must be open in the following.
  Result<UploadState> LoadUploadState(WallTime now);
  // Loads it, its next try as NextTryInNewEpoch() or CorrectNextTry() had to correct it.
  Result<UploadState> LoadCorrectedUploadState(WallTime now);
  Status NewUploadSeed();
  Status SaveUploadState(const UploadState& upload, std::string_view problem);
  Status KeepNeededKeys();

  // The steps of Upload(), in this order. Batches grow older, and those beyond the limits go.
  Status AgeSpool(WallTime now);
  // Whether it is time to, and the machine's power and connection are good for it.
  Result<bool> MayUploadNow(const UploadState& upload, WallTime now);
  // Nullopt if another process uploads or has done so just now. Reads `upload` anew.
  Result<std::optional<UploadLock>> TakeTurn(UploadWish wish, WallTime now, UploadState& upload);
  Status SendWaiting(UploadWish wish, const UploadState& upload, Batcher& batcher,
                     UploadReport& report);
  // When to try next.
  Status NoteOutcome(UploadState upload, WallTime now, UploadReport& report);

  const AgentPaths paths;
  const AgentConfig config;
  const Clock* clock;
  std::optional<StateDb> database;
  std::optional<SpoolDb> spool;  // of the database
  AgentKeys keys;
  Uploader uploader;
};

}  // namespace fieldcost::agent
