// The read-only part of Agent: its status.
#include "agent/volunteer/agent_status.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "agent/policy/field_policy.h"
#include "agent/runs/policy_writer.h"
#include "agent/settings/hardware.h"
#include "agent/settings/memory_dir.h"
#include "agent/settings/pause.h"
#include "agent/settings/system_policy.h"
#include "agent/upload/power.h"
#include "agent/volunteer/agent_state.h"
#include "common/base/file.h"
#include "common/base/units.h"
#include "common/shm/policy_file.h"

namespace fieldcost::volunteer {
namespace {

// A measured run takes a few tens of KiB, and other programs write here, too.
constexpr std::uint64_t kLeastFreeBytes = kMiB;

// Explains why programs cannot create their run files; empty if they can.
std::string RunDirectoryProblem(const settings::AgentPaths& paths) {
  const auto memory = settings::FindMemoryDir(paths);
  if (!memory) return memory.error().message;
  const std::filesystem::path directory = memory->directory / shm::kRunDirectoryName;
  struct statvfs room {};
  if (::statvfs(directory.c_str(), &room) != 0) {
    if (errno == ENOENT) return {};  // the first program creates it
    return ErrnoError("check the free space of", directory, errno).message;
  }
  // Checks for the effective user, not the real one.
  if (::faccessat(AT_FDCWD, directory.c_str(), W_OK | X_OK, AT_EACCESS) != 0) {
    return ErrnoError("write in", directory, errno).message;
  }
  // Both are 0 on file systems that do not count files.
  const bool no_files_left = room.f_files != 0 && room.f_favail == 0;
  if (room.f_bavail * room.f_frsize >= kLeastFreeBytes && !no_files_left) return {};
  return fmt::format("the file system of {} is full", directory.string());
}

// Explains why programs are not measured although they should be; empty if they are.
std::string PolicyProblem(const settings::AgentPaths& paths, const settings::Consent& consent,
                          bool paused) {
  if (consent.mode == settings::Mode::kOff) return {};
  const auto bytes = ReadFile(paths.policy_file(), runs::kMaxPolicyBytes);
  if (!bytes) return bytes.error().message;
  if (runs::PolicySerial(paths.policy_file()) == 0) {
    return paths.policy_file().string() + " is not a policy file of this version";
  }
  shm::PolicyHeader header;
  std::copy_n(bytes->data(), sizeof header, reinterpret_cast<char*>(&header));
  if (header.collection_enabled == 0 && !paused) return "the policy file forbids measuring";
  if (header.tsc_to_ns_multiplier == 0) {
    return "this machine has no invariant time stamp counter";
  }
  return RunDirectoryProblem(paths);
}

FieldPolicyStatus StatusOf(const policy::FieldPolicy& policy) {
  FieldPolicyStatus status{.version = 0, .expires = {}, .problem = policy.problem};
  if (policy.in_force) {
    status.version = policy.in_force->version;
    status.expires = policy.in_force->expires;
  }
  return status;
}

// Reads the counts in the database.
Status ReadCounts(spool::StateDb& database, MeasuringStatus& measuring) {
  FIELDCOST_ASSIGN(const std::uint64_t since, database.Get(spool::kRecentSinceNumber, 0));
  measuring.times_since = WallTime(std::chrono::seconds(static_cast<std::int64_t>(since)));
  FIELDCOST_ASSIGN(measuring.runs.drawn, database.Get(spool::kDrawnRunsNumber, 0));
  FIELDCOST_ASSIGN(measuring.runs.not_drawn, database.Get(spool::kNotDrawnRunsNumber, 0));
  FIELDCOST_ASSIGN(measuring.runs.asked, database.Get(spool::kAskedRunsNumber, 0));
  FIELDCOST_ASSIGN(measuring.lost_calls, database.Get(spool::kLostCallsNumber, 0));
  FIELDCOST_ASSIGN(measuring.refused_files, database.Get(spool::kRefusedFilesNumber, 0));
  FIELDCOST_ASSIGN(measuring.refused_cells, database.Get(spool::kRefusedCellsNumber, 0));
  FIELDCOST_ASSIGN(measuring.timed_calls, database.Get(spool::kTimedCallsNumber, 0));
  FIELDCOST_ASSIGN(measuring.untimed_calls, database.Get(spool::kUntimedCallsNumber, 0));
  FIELDCOST_ASSIGN(measuring.dropped_picks, database.Get(spool::kDroppedPicksNumber, 0));
  FIELDCOST_ASSIGN(measuring.overhead_ns, database.Get(spool::kOverheadNumber, 0));
  FIELDCOST_ASSIGN(measuring.private_rows_kept, database.CountPrivateRows());
  return {};
}

Result<OutboxStatus> ReadOutbox(spool::StateDb& database, spool::SpoolDb& spool,
                                const settings::AgentConfig& config) {
  OutboxStatus outbox;
  const stats::HardwareClass hardware = settings::ThisHardware();
  FIELDCOST_ASSIGN(std::vector<wire::BatchRow> pending,
                   database.PendingRows(stats::DisplayName(hardware), wire::kMaxBatchRows));
  outbox.pending_rows = pending.size();
  if (!pending.empty()) {
    outbox.pending_bytes =
        wire::EncodedBatchBytes({.field_policy_version = spool::SentFieldPolicyVersion(config),
                                 .hardware = hardware,
                                 .rows = std::move(pending)});
  }
  FIELDCOST_ASSIGN(const spool::SpoolTotals totals, spool.Totals());
  outbox.spooled_batches = totals.queued;
  outbox.quarantined_batches = totals.quarantined;
  outbox.sent_batches = totals.sent;
  outbox.withdrawn_batches = totals.withdrawn;
  FIELDCOST_ASSIGN(outbox.dropped_batches, database.Get(spool::kDroppedBatchesNumber, 0));
  FIELDCOST_ASSIGN(outbox.dropped_rows, database.Get(spool::kDroppedRowsNumber, 0));
  return outbox;
}

// Removes the count of runs that were not drawn, and returns it.
std::uint64_t TakeNotDrawn(std::vector<runs::SkipCount>& skips) {
  std::uint64_t not_drawn = 0;
  std::erase_if(skips, [&not_drawn](const runs::SkipCount& skip) {
    if (skip.skip != shm::Skip::kNotDrawn) return false;
    not_drawn = skip.runs;
    return true;
  });
  return not_drawn;
}

}  // namespace

Result<MeasuringStatus> Agent::GetMeasuring() const {
  MeasuringStatus measuring;
  FIELDCOST_ASSIGN(const settings::Consent in_force, state_->LoadDecision());
  FIELDCOST_ASSIGN(const std::vector<std::filesystem::path> files, harvest::ListRunFiles(paths()));
  measuring.run_files = files.size();
  measuring.skips = runs::ReadSkips(paths().skip_file());
  // Runs that were not selected at random follow the policy, so they are no obstacle.
  const std::uint64_t not_drawn = TakeNotDrawn(measuring.skips);
  const bool paused = settings::PausedUntil(paths(), state_->clock->Now()).has_value();
  measuring.policy_problem = PolicyProblem(paths(), in_force, paused);
  if (!state_->HasDatabase()) {
    measuring.runs.not_drawn = not_drawn;
    return measuring;
  }
  FIELDCOST_TRY(state_->OpenDatabase());
  FIELDCOST_TRY(ReadCounts(*state_->database, measuring));
  // Includes those that the next harvest will add.
  FIELDCOST_ASSIGN(const std::uint64_t seen, state_->database->Get(spool::kNotDrawnSeenNumber, 0));
  measuring.runs.not_drawn += runs::CountedSince(not_drawn, seen);
  return measuring;
}

Result<AgentStatus> Agent::GetStatus() const {
  AgentStatus status;
  FIELDCOST_ASSIGN(status.consent, settings::LoadConsent(paths().consent_file()));
  FIELDCOST_ASSIGN(const settings::Consent in_force, state_->LoadDecision());
  status.forbidden = !settings::CheckPermitted(paths().system_file);
  const WallTime now = state_->clock->Now();
  status.paused_until = settings::PausedUntil(paths(), now);
  FIELDCOST_ASSIGN(status.measuring, GetMeasuring());
  if (config().download_policy)
    status.field_policy = StatusOf(policy::LoadFieldPolicy(paths(), now));
  if (!state_->HasDatabase()) return status;
  FIELDCOST_TRY(state_->OpenDatabase());
  spool::StateDb& database = *state_->database;
  FIELDCOST_ASSIGN(const wire::Epoch epoch, state_->spool->LastEpoch());
  if (state_->keys.Has(epoch)) {
    FIELDCOST_ASSIGN(const crypto::PrivateKey key, state_->keys.For(epoch));
    status.agent_public_key = key.public_key().Hex();
  }
  FIELDCOST_ASSIGN(status.outbox, ReadOutbox(database, *state_->spool, config()));
  FIELDCOST_ASSIGN(status.upload.failed_uploads, database.Get(kFailedUploadsNumber, 0));
  FIELDCOST_ASSIGN(status.upload.upload_problem, database.GetText(kUploadProblemText));
  if (in_force.mode == settings::Mode::kOn && !config().url.empty()) {
    FIELDCOST_ASSIGN(const upload::UploadState upload, state_->LoadUploadState(now));
    status.upload.next_upload = upload::NextUploadTime(upload, now);
    status.upload.waiting_for = upload::WaitReason(paths(), config(), now);
  }
  return status;
}

}  // namespace fieldcost::volunteer
