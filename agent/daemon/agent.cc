#include "agent/daemon/agent.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "agent/daemon/agent_state.h"
#include "agent/daemon/batcher.h"
#include "agent/daemon/field_policy.h"
#include "agent/daemon/hardware.h"
#include "agent/daemon/harvester.h"
#include "agent/daemon/memory_dir.h"
#include "agent/daemon/policy_writer.h"
#include "agent/daemon/power.h"
#include "agent/daemon/skip_counts.h"
#include "agent/daemon/system_policy.h"
#include "agent/daemon/upload_lock.h"
#include "common/base/file.h"
#include "common/shm/policy_file.h"

namespace fieldcost::daemon {
namespace {

constexpr char kDatabaseName[] = "agent.db";

// A measured run takes a few tens of KiB, and others write too.
constexpr std::uint64_t kLeastFreeBytes = kMiB;

bool Exists(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::exists(std::filesystem::symlink_status(path, error));
}

// Why programs cannot make their run files; empty if they can.
std::string RunDirectoryProblem(const Profile& profile) {
  const auto memory = FindMemoryDir(profile);
  if (!memory) return memory.error().message;
  const std::filesystem::path directory = memory->directory / shm::kRunDirectoryName;
  struct statvfs room {};
  if (::statvfs(directory.c_str(), &room) != 0) {
    if (errno == ENOENT) return {};  // the first program makes it
    return ErrnoError("look at the room in", directory, errno).message;
  }
  // As the user that we act for, who need not be the real one.
  if (::faccessat(AT_FDCWD, directory.c_str(), W_OK | X_OK, AT_EACCESS) != 0) {
    return ErrnoError("write in", directory, errno).message;
  }
  // Both are 0 where a file system does not count its files.
  const bool no_files_left = room.f_files != 0 && room.f_favail == 0;
  if (room.f_bavail * room.f_frsize >= kLeastFreeBytes && !no_files_left) return {};
  return fmt::format("the file system of {} is full", directory.string());
}

// Why programs are not measured although they should be; empty if they are.
std::string PolicyProblem(const Profile& profile, const Consent& consent) {
  if (consent.mode == Mode::kOff) return {};
  const auto bytes = ReadFile(profile.policy_file(), kMaxPolicyBytes);
  if (!bytes) return bytes.error().message;
  if (PolicySerial(profile.policy_file()) == 0) {
    return profile.policy_file().string() + " is not a policy file of this version";
  }
  shm::PolicyHeader header;
  std::copy_n(bytes->data(), sizeof header, reinterpret_cast<char*>(&header));
  if (header.collection_enabled == 0) return "the policy file says not to measure";
  if (header.tsc_to_ns_multiplier == 0) {
    return "this machine has no invariant time stamp counter";
  }
  return RunDirectoryProblem(profile);
}

}  // namespace

Agent::State::State(Profile its_profile, AgentConfig its_config, const Clock& its_clock)
    : profile(std::move(its_profile)),
      config(std::move(its_config)),
      clock(&its_clock),
      keys(profile),
      uploader(profile, config, its_clock) {}

Status Agent::State::OpenDatabase() {
  if (database) return {};
  FIELDCOST_TRY(MakeDirectories(profile.state_dir, 0700));
  FIELDCOST_ASSIGN(StateDb opened, StateDb::Open(profile.state_dir / kDatabaseName));
  database.emplace(std::move(opened));
  spool.emplace(*database);
  FIELDCOST_ASSIGN(const std::uint64_t seed, database->Get(kUploadSeedNumber, 0));
  if (seed == 0) FIELDCOST_TRY(NewUploadSeed());
  FIELDCOST_ASSIGN(const std::vector<std::uint64_t> epochs, spool->EpochsInUse());
  return keys.TakeOver(epochs);
}

bool Agent::State::HasDatabase() const {
  return database || Exists(profile.state_dir / kDatabaseName);
}

Agent::Agent(std::unique_ptr<State> state) : state_(std::move(state)) {}
Agent::Agent(Agent&&) noexcept = default;
Agent& Agent::operator=(Agent&&) noexcept = default;
Agent::~Agent() = default;

Result<Agent> Agent::Open(const Profile& profile, const Clock& clock) {
  FIELDCOST_ASSIGN(AgentConfig config, LoadConfigInForce(profile, clock.Now()));
  auto state = std::make_unique<State>(profile, std::move(config), clock);
  FIELDCOST_ASSIGN(const Consent consent, state->LoadDecision());
  if (consent.mode != Mode::kOff) FIELDCOST_TRY(state->OpenDatabase());
  return Agent(std::move(state));
}

const Profile& Agent::profile() const { return state_->profile; }
const AgentConfig& Agent::config() const { return state_->config; }

Status Agent::SetMode(Mode mode) {
  if (mode != Mode::kOff) FIELDCOST_TRY(CheckPermitted(profile().system_file));
  const std::filesystem::path file = profile().consent_file();
  const auto loaded = LoadConsent(file);
  const Consent before = loaded ? *loaded : Consent{};
  if (mode == Mode::kOff && !Exists(profile().state_dir)) return {};
  FIELDCOST_TRY(MakeDirectories(profile().state_dir, 0700));
  if (before.mode != Mode::kOff && mode != Mode::kOff && before.mode != mode) {
    FIELDCOST_ASSIGN([[maybe_unused]] const HarvestReport report, Harvest());
  }
  // The same decision again keeps its date: it was never interrupted.
  if (!loaded || before.mode != mode || !Exists(file)) {
    FIELDCOST_TRY(SaveConsent(file, {.mode = mode, .since = state_->clock->Now()}));
  }
  const Status told = WritePolicy(false);
  // An upload that is under way ends before what it was sending is dropped.
  const Status quiet = mode == Mode::kOn ? Status() : UploadLock::WaitForOthers(profile());
  const Status dropped = DropUnwanted(before.mode, mode);
  if (!quiet) return quiet;
  return told ? dropped : told;
}

Status Agent::DropUnwanted(Mode before, Mode now) {
  if (now == Mode::kOff) {
    FIELDCOST_ASSIGN(const std::vector<std::filesystem::path> runs, ListRunFiles(profile()));
    std::error_code error;
    for (const std::filesystem::path& run : runs) std::filesystem::remove(run, error);
    if (!state_->HasDatabase()) return {};
  } else if (before == now && now == Mode::kOn) {
    return {};
  }
  // After the decision is on disk: a harvest that is under way sees it, or is cleaned up after.
  FIELDCOST_TRY(state_->OpenDatabase());
  FIELDCOST_ASSIGN(sqlite::Transaction transaction, state_->database->Begin());
  FIELDCOST_TRY(state_->spool->DropUnsent("consent was withdrawn", state_->clock->Now()));
  return transaction.Commit();
}

Status Agent::WritePolicy(bool forced) {
  FIELDCOST_ASSIGN(const Consent consent, state_->LoadDecision());
  if (consent.mode == Mode::kOff && !forced && !Exists(profile().policy_file())) return {};
  return WritePolicyFile(profile(), config(), consent.mode != Mode::kOff, Weights::kOfCatalogue);
}

Status Agent::WritePolicyAtOnce(bool forced) {
  FIELDCOST_ASSIGN(const Consent consent, state_->LoadDecision());
  if (consent.mode == Mode::kOff && !forced && !Exists(profile().policy_file())) return {};
  return WritePolicyFile(profile(), config(), consent.mode != Mode::kOff, Weights::kAsTheyAre);
}

Result<bool> Agent::RefreshFieldPolicy() {
  FIELDCOST_ASSIGN(const Consent consent, state_->LoadDecision());
  if (consent.mode != Mode::kOn) return false;
  return FetchFieldPolicy(profile(), config(), state_->clock->Now());
}

Result<HarvestReport> Agent::Harvest() {
  // A decision that cannot be read stops us here, before any file is removed.
  FIELDCOST_ASSIGN([[maybe_unused]] const Consent consent, state_->LoadDecision());
  FIELDCOST_ASSIGN(const std::vector<std::filesystem::path> files, ListRunFiles(profile()));
  if (files.empty() && !state_->HasDatabase()) return HarvestReport{};
  FIELDCOST_TRY(state_->OpenDatabase());
  return Harvester(profile(), config(), *state_->clock, *state_->database).HarvestAll();
}

Result<std::vector<stats::StatRow>> Agent::LocalRows() const {
  std::vector<stats::StatRow> rows;
  if (!state_->HasDatabase()) return rows;
  FIELDCOST_TRY(state_->OpenDatabase());
  FIELDCOST_ASSIGN(const auto stored, state_->database->LocalRows());
  const stats::HardwareClass hardware = ThisHardware();
  rows.reserve(stored.size());
  for (const auto& [key, histogram] : stored) {
    rows.push_back(
        {.key = {.api = key.api, .metric = key.metric, .hardware = hardware, .week = key.week},
         .histogram = histogram,
         .scalars = stats::ScalarsOf(histogram)});
  }
  std::sort(rows.begin(), rows.end(),
            [](const stats::StatRow& a, const stats::StatRow& b) { return a.key < b.key; });
  return rows;
}

Result<std::set<stats::ApiKey>> Agent::LocalOnlyApis() const {
  if (!state_->HasDatabase()) return std::set<stats::ApiKey>{};
  FIELDCOST_TRY(state_->OpenDatabase());
  return state_->database->PrivateApis();
}

Result<AgentStatus> Agent::GetStatus() const {
  AgentStatus status;
  FIELDCOST_ASSIGN(status.consent, LoadConsent(profile().consent_file()));
  FIELDCOST_ASSIGN(const Consent in_force, state_->LoadDecision());
  status.forbidden = !CheckPermitted(profile().system_file);
  FIELDCOST_ASSIGN(const std::vector<std::filesystem::path> files, ListRunFiles(profile()));
  status.run_files = files.size();
  status.skips = ReadSkips(profile().skip_file());
  status.policy_problem = PolicyProblem(profile(), in_force);
  if (config().download_policy) {
    const FieldPolicy policy = LoadFieldPolicy(profile(), state_->clock->Now());
    if (policy.in_force) {
      status.field_policy_version = policy.in_force->version;
      status.field_policy_expires = policy.in_force->expires;
    }
    status.field_policy_problem = policy.problem;
  }
  if (!state_->HasDatabase()) return status;
  FIELDCOST_TRY(state_->OpenDatabase());
  StateDb& database = *state_->database;
  FIELDCOST_ASSIGN(const std::uint64_t epoch, database.Get(kEpochNumber, 0));
  if (state_->keys.Has(epoch)) {
    FIELDCOST_ASSIGN(const crypto::PrivateKey key, state_->keys.For(epoch));
    status.agent_public_key = key.public_key().Hex();
  }
  const stats::HardwareClass hardware = ThisHardware();
  FIELDCOST_ASSIGN(const std::vector<PendingRow> pending,
                   database.PendingRows(stats::DisplayName(hardware), wire::kMaxBatchRows));
  status.pending_rows = pending.size();
  if (!pending.empty()) {
    status.pending_bytes = wire::EncodedBatchBytes(
        ContentOf(pending, pending.size(), SentFieldPolicyVersion(config()), hardware));
  }
  FIELDCOST_ASSIGN(const SpoolTotals totals, state_->spool->Totals());
  status.spooled_batches = totals.queued;
  status.quarantined_batches = totals.quarantined;
  status.sent_batches = totals.sent;
  status.withdrawn_batches = totals.withdrawn;
  FIELDCOST_ASSIGN(status.dropped_batches, database.Get(kDroppedBatchesNumber, 0));
  FIELDCOST_ASSIGN(status.dropped_rows, database.Get(kDroppedRowsNumber, 0));
  FIELDCOST_ASSIGN(status.failed_uploads, database.Get(kFailedUploadsNumber, 0));
  FIELDCOST_ASSIGN(status.upload_problem, database.GetText(kUploadProblemText));
  if (in_force.mode == Mode::kOn && !config().url.empty()) {
    const WallTime now = state_->clock->Now();
    FIELDCOST_ASSIGN(const UploadState upload, state_->LoadUploadState(now));
    status.next_upload = NextUploadTime(upload, now);
    status.waiting_for = WaitReason(profile(), config());
  }
  FIELDCOST_ASSIGN(status.lost_calls, database.Get(kLostCallsNumber, 0));
  FIELDCOST_ASSIGN(status.refused_files, database.Get(kRefusedFilesNumber, 0));
  FIELDCOST_ASSIGN(status.refused_cells, database.Get(kRefusedCellsNumber, 0));
  FIELDCOST_ASSIGN(status.timed_calls, database.Get(kTimedCallsNumber, 0));
  FIELDCOST_ASSIGN(status.untimed_calls, database.Get(kUntimedCallsNumber, 0));
  FIELDCOST_ASSIGN(status.dropped_picks, database.Get(kDroppedPicksNumber, 0));
  FIELDCOST_ASSIGN(status.overhead_ns, database.Get(kOverheadNumber, 0));
  FIELDCOST_ASSIGN(status.private_rows_kept, database.CountPrivateRows());
  return status;
}

}  // namespace fieldcost::daemon
