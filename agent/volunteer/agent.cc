#include "agent/volunteer/agent.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "agent/harvest/harvester.h"
#include "agent/policy/choose_weights.h"
#include "agent/policy/documented_names.h"
#include "agent/policy/field_policy.h"
#include "agent/runs/policy_writer.h"
#include "agent/settings/hardware.h"
#include "agent/settings/system_policy.h"
#include "agent/upload/upload_lock.h"
#include "agent/volunteer/agent_state.h"
#include "common/base/file.h"
#include "common/shm/policy_file.h"

namespace fieldcost::volunteer {
namespace {

constexpr char kDatabaseName[] = "agent.db";

bool Exists(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::exists(std::filesystem::symlink_status(path, error));
}

std::uint64_t SecondOf(WallTime time) {
  const auto second = std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count();
  return second < 0 ? 0 : static_cast<std::uint64_t>(second);
}

// Rows of this machine, ascending. `stored` contains pairs of a LocalKey and a histogram.
template <typename Stored>
std::vector<stats::StatRow> StatRowsOf(const Stored& stored) {
  const stats::HardwareClass hardware = settings::ThisHardware();
  std::vector<stats::StatRow> rows;
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

}  // namespace

Agent::State::State(settings::AgentPaths its_paths, settings::AgentConfig its_config,
                    const Clock& its_clock)
    : paths(std::move(its_paths)),
      config(std::move(its_config)),
      clock(&its_clock),
      keys(paths),
      uploader(paths, config, its_clock) {}

Status Agent::State::OpenDatabase() {
  if (database) return {};
  FIELDCOST_TRY(MakeDirectories(paths.state_dir, 0700));
  FIELDCOST_ASSIGN(spool::StateDb opened, spool::StateDb::Open(paths.state_dir / kDatabaseName));
  database.emplace(std::move(opened));
  spool.emplace(*database);
  FIELDCOST_ASSIGN(const std::uint64_t seed, database->Get(kUploadSeedNumber, 0));
  if (seed == 0) FIELDCOST_TRY(NewUploadSeed());
  return {};
}

bool Agent::State::HasDatabase() const {
  return database || Exists(paths.state_dir / kDatabaseName);
}

Agent::Agent(std::unique_ptr<State> state) : state_(std::move(state)) {}
Agent::Agent(Agent&&) noexcept = default;
Agent& Agent::operator=(Agent&&) noexcept = default;
Agent::~Agent() = default;

Result<Agent> Agent::Open(const settings::AgentPaths& paths, const Clock& clock) {
  FIELDCOST_ASSIGN(settings::AgentConfig config, policy::LoadConfigInForce(paths, clock.Now()));
  auto state = std::make_unique<State>(paths, std::move(config), clock);
  FIELDCOST_ASSIGN(const settings::Consent consent, state->LoadDecision());
  if (consent.mode != settings::Mode::kOff) FIELDCOST_TRY(state->OpenDatabase());
  return Agent(std::move(state));
}

const settings::AgentPaths& Agent::paths() const { return state_->paths; }
const settings::AgentConfig& Agent::config() const { return state_->config; }

Status Agent::SetMode(settings::Mode mode) {
  if (mode != settings::Mode::kOff) FIELDCOST_TRY(settings::CheckPermitted(paths().system_file));
  const std::filesystem::path file = paths().consent_file();
  const auto loaded = settings::LoadConsent(file);
  const settings::Consent before = loaded ? *loaded : settings::Consent{};
  if (mode == settings::Mode::kOff && !Exists(paths().state_dir)) return {};
  FIELDCOST_TRY(MakeDirectories(paths().state_dir, 0700));
  if (before.mode != settings::Mode::kOff && mode != settings::Mode::kOff && before.mode != mode) {
    FIELDCOST_ASSIGN([[maybe_unused]] const harvest::HarvestReport report, Harvest());
  }
  // Repeating the same decision keeps its date: consent was never interrupted.
  if (!loaded || before.mode != mode || !Exists(file)) {
    FIELDCOST_TRY(settings::SaveConsent(file, {.mode = mode, .since = state_->clock->Now()}));
  }
  const Status told = WritePolicy();
  // An upload in progress must end before the data that it was sending is dropped.
  const Status quiet =
      mode == settings::Mode::kOn ? Status() : upload::UploadLock::WaitForOthers(paths());
  const Status dropped = DropUnwanted(before.mode, mode);
  if (!quiet) return quiet;
  return told ? dropped : told;
}

Status Agent::Pause(WallTime until) {
  FIELDCOST_TRY(settings::SavePause(paths(), until));
  const Status told = WritePolicy({.at_once = true});
  FIELDCOST_TRY(upload::UploadLock::WaitForOthers(paths()));
  return told;
}

Result<bool> Agent::Resume() {
  FIELDCOST_ASSIGN(const bool was_paused, settings::EndPause(paths()));
  FIELDCOST_TRY(WritePolicy({.at_once = true}));
  return was_paused;
}

Status Agent::DropUnwanted(settings::Mode before, settings::Mode now) {
  if (now == settings::Mode::kOff) {
    FIELDCOST_ASSIGN(const std::vector<std::filesystem::path> runs, harvest::ListRunFiles(paths()));
    std::error_code error;
    for (const std::filesystem::path& run : runs) std::filesystem::remove(run, error);
    if (!state_->HasDatabase()) return {};
  } else if (before == now && now == settings::Mode::kOn) {
    return {};
  }
  // The decision is on disk now: a harvest in progress sees it, or its rows are deleted below.
  FIELDCOST_TRY(state_->OpenDatabase());
  FIELDCOST_ASSIGN(sqlite::Transaction transaction, state_->database->Begin());
  FIELDCOST_TRY(state_->spool->DropUnsent("consent was withdrawn", state_->clock->Now()));
  return transaction.Commit();
}

Status Agent::WritePolicy(const PolicyWriting& how) {
  FIELDCOST_ASSIGN(const settings::Consent consent, state_->LoadDecision());
  const bool is_enabled = consent.mode != settings::Mode::kOff;
  if (!is_enabled && !how.forced && !Exists(paths().policy_file())) return {};
  const auto source =
      how.at_once ? policy::WeightSource::kPresentPolicy : policy::WeightSource::kCatalogue;
  return runs::WritePolicyFile(
      paths(), config(), is_enabled, policy::ChooseWeights(paths(), config(), source),
      how.documentation ? policy::ChooseDocumentedNames(paths()) : std::nullopt);
}

Result<bool> Agent::RefreshFieldPolicy() {
  FIELDCOST_ASSIGN(const settings::Consent consent, state_->LoadDecision());
  if (consent.mode != settings::Mode::kOn || settings::PausedUntil(paths(), state_->clock->Now()))
    return false;
  return policy::FetchFieldPolicy(paths(), config(), state_->clock->Now());
}

Result<harvest::HarvestReport> Agent::Harvest() {
  // An unreadable decision stops us here, before any file is removed.
  FIELDCOST_ASSIGN([[maybe_unused]] const settings::Consent consent, state_->LoadDecision());
  FIELDCOST_ASSIGN(const std::vector<std::filesystem::path> files, harvest::ListRunFiles(paths()));
  if (files.empty() && !state_->HasDatabase()) return harvest::HarvestReport{};
  FIELDCOST_TRY(state_->OpenDatabase());
  return harvest::Harvester(paths(), config(), *state_->clock, *state_->database).HarvestAll();
}

Result<std::vector<stats::StatRow>> Agent::LocalRows() const {
  if (!state_->HasDatabase()) return std::vector<stats::StatRow>();
  FIELDCOST_TRY(state_->OpenDatabase());
  FIELDCOST_ASSIGN(const auto stored, state_->database->LocalRows());
  return StatRowsOf(stored);
}

Result<std::vector<stats::StatRow>> Agent::LocalRowsOf(const TimeSpan& span) const {
  if (!state_->HasDatabase()) return std::vector<stats::StatRow>();
  FIELDCOST_TRY(state_->OpenDatabase());
  FIELDCOST_ASSIGN(const spool::RecentRows found,
                   state_->database->FindRecent({.from_second = SecondOf(span.from),
                                                 .before_second = SecondOf(span.before)}));
  return StatRowsOf(found.sums);
}

Result<RequestedRows> Agent::RowsOfRequest(std::uint64_t request_id) const {
  if (!state_->HasDatabase() || request_id == 0) return RequestedRows();
  FIELDCOST_TRY(state_->OpenDatabase());
  FIELDCOST_ASSIGN(const spool::RecentRows found,
                   state_->database->FindRecent({.request = request_id}));
  return RequestedRows{.rows = StatRowsOf(found.sums), .any_fielded = found.any_fielded};
}

Status Agent::ForgetLocal() {
  if (!state_->HasDatabase()) return {};
  // Harvest first, so that what has been measured so far is erased, too.
  FIELDCOST_ASSIGN([[maybe_unused]] const harvest::HarvestReport report, Harvest());
  FIELDCOST_TRY(state_->OpenDatabase());
  FIELDCOST_ASSIGN(sqlite::Transaction transaction, state_->database->Begin());
  FIELDCOST_TRY(state_->database->ForgetLocal());
  for (const char* const runs :
       {spool::kDrawnRunsNumber, spool::kNotDrawnRunsNumber, spool::kAskedRunsNumber}) {
    FIELDCOST_TRY(state_->database->Set(runs, 0));
  }
  return transaction.Commit();
}

Result<std::set<stats::ApiKey>> Agent::LocalOnlyApis() const {
  if (!state_->HasDatabase()) return std::set<stats::ApiKey>{};
  FIELDCOST_TRY(state_->OpenDatabase());
  return state_->database->PrivateApis();
}

}  // namespace fieldcost::volunteer
