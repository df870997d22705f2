#include "agent/harvest/harvester.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <iterator>
#include <system_error>

#include "agent/harvest/module_version.h"
#include "agent/runs/boot_id.h"
#include "agent/runs/liveness.h"
#include "agent/runs/skip_counts.h"
#include "agent/settings/consent.h"
#include "agent/settings/memory_dir.h"
#include "agent/settings/public_modules.h"
#include "common/base/log.h"

namespace fieldcost::harvest {
namespace {

// Key of the run files' place when a missing one was last treated as gone: see SeesAllRuns().
constexpr char kRunPlaceText[] = "run_place";
constexpr char kRefusedDirectory[] = "refused";
constexpr std::size_t kMaxFilesPerHarvest = 4096;
constexpr std::size_t kMaxRefusedFiles = 16;
// A file whose writer died before completing it is removed after this time.
constexpr std::int64_t kUnfinishedSeconds = 60;
constexpr std::uint64_t kPsPerNs = 1000;
// 13 days, over all threads.
constexpr std::uint64_t kMaxTimePerRunNs = std::uint64_t{1} << 50;
// Bounds the square of a run's time, times the runs it represents; a service accepts 1,000 times
// that for a row.
constexpr stats::Uint128 kMaxSquaresPerRun = stats::Uint128{1} << 102;

std::uint64_t SecondOf(WallTime time) {
  const auto second = std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count();
  return second < 0 ? 0 : static_cast<std::uint64_t>(second);
}

std::uint64_t InodeOf(const std::filesystem::path& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0 ? info.st_ino : 0;
}

// Whether the error is a failure on our side rather than a defect of the file.
bool IsOurs(const Error& error) {
  return error.code == ErrorCode::kIo || error.code == ErrorCode::kUnavailable ||
         error.code == ErrorCode::kInternal;
}

// All measurements of non-public libraries share one key.
stats::ApiKey PrivateApi() {
  return {.soname = settings::kPrivateName,
          .package_version = {},
          .build_id = {},
          .symbol = settings::kPrivateName,
          .symbol_version = {}};
}

// One value per reason.
runs::RunCell NotMeasuredCell(std::size_t pick, std::uint32_t reasons) {
  runs::RunCell cell{.pick = static_cast<std::uint32_t>(pick),
                     .metric = stats::Metric::kNotMeasured,
                     .histogram = {}};
  for (std::uint32_t reason = 1; reason <= reasons; reason *= 2) {
    if ((reasons & reason) != 0) cell.histogram.Add(reason, 1);
  }
  return cell;
}

// Makes room for another file in runs/refused/ by removing the oldest.
void LimitRefused(const std::filesystem::path& directory) {
  std::vector<std::pair<std::int64_t, std::filesystem::path>> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    struct stat info {};
    if (::lstat(entry.path().c_str(), &info) == 0) {
      files.emplace_back(info.st_ctim.tv_sec, entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  for (std::size_t i = 0; i + kMaxRefusedFiles <= files.size(); ++i) {
    std::filesystem::remove_all(files[i].second, error);
  }
}

// Appends the run files of a directory in ascending order.
Status ListDirectory(const std::filesystem::path& directory,
                     std::vector<std::filesystem::path>& files) {
  const auto first = static_cast<std::ptrdiff_t>(files.size());
  std::error_code error;
  std::filesystem::directory_iterator entries(directory, error);
  if (error == std::errc::no_such_file_or_directory) return {};
  for (; !error && entries != std::filesystem::directory_iterator(); entries.increment(error)) {
    if (!entries->path().native().ends_with(shm::kRunFileSuffix)) continue;
    files.push_back(entries->path());
    if (files.size() == kMaxFilesPerHarvest) break;
  }
  if (error) return ErrnoError("list", directory, error.value());
  std::sort(files.begin() + first, files.end());
  return {};
}

// Identifies a directory within this boot, even if another mount namespace has a directory of the
// same name. Empty if it does not exist.
std::string PlaceOf(const std::filesystem::path& directory, const std::string& boot_id) {
  struct stat info {};
  if (::stat(directory.c_str(), &info) != 0) return {};
  return fmt::format("{} {}:{}", boot_id, info.st_dev, info.st_ino);
}

// Handles a file that its process has not completed: removes it if it is old and its process is
// gone.
void LeaveUnready(const std::filesystem::path& path, const runs::RunFileBytes& bytes,
                  HarvestReport& report) {
  const bool is_old = ::time(nullptr) - bytes.modified_unix_seconds() > kUnfinishedSeconds;
  if (is_old && !runs::IsBeingWritten(bytes.fd())) {
    ::unlink(path.c_str());
  } else {
    ++report.files_left;
  }
}

}  // namespace

spool::RunNumbers NumbersOf(const runs::RunInfo& info, const runs::RunContent& content,
                            const spool::RunNumbers& before) {
  spool::RunNumbers now{.lost_calls = info.lost_calls, .refused_cells = content.refused_cells};
  for (const runs::RunPick& pick : content.picks) {
    if (pick.dropped) ++now.dropped_picks;
    if (!pick.calls) continue;
    now.timed_calls += pick.calls->timed;
    now.untimed_calls += pick.calls->untimed;
  }
  return {.lost_calls = std::max(before.lost_calls, now.lost_calls),
          .timed_calls = std::max(before.timed_calls, now.timed_calls),
          .untimed_calls = std::max(before.untimed_calls, now.untimed_calls),
          .dropped_picks = std::max(before.dropped_picks, now.dropped_picks),
          .refused_cells = std::max(before.refused_cells, now.refused_cells)};
}

std::vector<runs::RunCell> SingleValues(const runs::RunInfo& info, const runs::RunContent& content,
                                        bool ended) {
  std::vector<runs::RunCell> cells;
  const auto add = [&](std::size_t pick, stats::Metric metric, std::uint64_t value,
                       std::uint64_t weight = 1) {
    cells.push_back({.pick = static_cast<std::uint32_t>(pick), .metric = metric, .histogram = {}});
    cells.back().histogram.Add(value, weight);
  };
  for (std::size_t i = 0; i < content.picks.size(); ++i) {
    const runs::RunPick& pick = content.picks[i];
    if (ended && pick.calls && pick.has_all_calls) {
      const std::uint64_t calls = pick.calls->timed + pick.calls->untimed;
      if (calls != 0) add(i, stats::Metric::kCallsPerRun, calls);
    }
    if (pick.first_call_ns) add(i, stats::Metric::kFirstCallTime, *pick.first_call_ns);
    if (ended && pick.not_measured != 0) cells.push_back(NotMeasuredCell(i, pick.not_measured));
  }
  if (!ended || info.forced || info.asked) return cells;
  for (const runs::RunCell& cell : content.cells) {
    const runs::RunPick& pick = content.picks[cell.pick];
    const bool is_time =
        cell.metric == stats::Metric::kWallTime || cell.metric == stats::Metric::kWallTimeBusy;
    if (!is_time || !pick.calls) continue;
    std::uint32_t weight =
        shm::RunsStoodFor(pick.drawn, pick.chances, shm::RoundingBits(info.random_draw, cell.pick));
    const auto ns = static_cast<std::uint64_t>(
        std::min<stats::Uint128>(cell.histogram.sum(), kMaxTimePerRunNs));
    while (stats::Uint128{ns} * ns * weight > kMaxSquaresPerRun) weight /= 2;
    if (weight != 0) add(cell.pick, stats::Metric::kTimePerRun, ns, weight);
  }
  return cells;
}

Result<std::vector<std::filesystem::path>> ListRunFiles(const settings::AgentPaths& paths) {
  std::vector<std::filesystem::path> files;
  for (const std::filesystem::path& directory : settings::RunDirectories(paths)) {
    FIELDCOST_TRY(ListDirectory(directory, files));
  }
  return files;
}

Status RemoveUnwantedRuns(const settings::AgentPaths& paths) {
  FIELDCOST_ASSIGN(const std::vector<std::filesystem::path> files, ListRunFiles(paths));
  for (const std::filesystem::path& path : files) {
    const auto bytes = runs::RunFileBytes::Open(path);
    if (!bytes) continue;
    const auto info = runs::ReadRunInfo(*bytes);
    if (!info || !info->ready || info->forced) continue;
    if (::unlink(path.c_str()) != 0 && errno != ENOENT) return ErrnoError("remove", path, errno);
  }
  return {};
}

Harvester::Harvester(const settings::AgentPaths& paths, const settings::AgentConfig& config,
                     const Clock& clock, spool::StateDb& database)
    : paths_(&paths),
      clock_(&clock),
      database_(&database),
      extra_modules_(config.extra_modules.begin(), config.extra_modules.end()) {
  for (wire::PolicyModule& module : settings::PublicModulesOf(config)) {
    public_modules_.emplace(std::move(module.soname), std::move(module.package));
  }
}

Result<HarvestReport> Harvester::HarvestAll() {
  HarvestReport report;
  directories_ = settings::RunDirectories(*paths_);
  FIELDCOST_TRY(FindMissing());
  FIELDCOST_ASSIGN(const std::vector<std::filesystem::path> files, ListRunFiles(*paths_));
  for (const std::filesystem::path& path : files) {
    const Status status = HarvestFile(path, report);
    if (!status) return Within(status.error(), "harvest");
  }
  FIELDCOST_TRY(CountNotDrawn());
  if (report.files_read != 0) FIELDCOST_TRY(database_->PruneRecent());
  return report;
}

Status Harvester::NamePicks(const runs::RunInfo& info, runs::RunContent& content) {
  ModuleVersions versions(*database_);
  for (runs::RunPick& pick : content.picks) {
    FIELDCOST_ASSIGN(const PackageOwner owner, versions.Find(pick.api, pick.module_path));
    pick.api.package_version = owner.version;
    pick.is_private = !IsPublic(pick.api, owner);
    if (pick.is_private && !info.forced) pick.api = PrivateApi();
  }
  return {};
}

Status Harvester::HarvestFile(const std::filesystem::path& path, HarvestReport& report) {
  const auto bytes = runs::RunFileBytes::Open(path);
  if (!bytes) {
    if (bytes.error().code == ErrorCode::kNotFound) return {};  // another process was faster
    return IsOurs(bytes.error()) ? Status(bytes.error()) : Refuse(path, bytes.error(), report);
  }
  const auto info = runs::ReadRunInfo(*bytes);
  if (!info) return Refuse(path, info.error(), report);
  if (!info->ready) {
    LeaveUnready(path, *bytes, report);
    return {};
  }
  // Checked before the cells are read: once the process has ended, the values are final.
  const bool ended = !runs::IsBeingWritten(bytes->fd());
  auto content = runs::ReadRunContent(*bytes, *info, ended);
  if (!content) return Refuse(path, content.error(), report);
  FIELDCOST_TRY(NamePicks(*info, *content));
  const spool::RunIdentity run{.name = path.filename().string(),
                               .inode = bytes->inode(),
                               .start_unix_ns = info->start_unix_ns};
  FIELDCOST_TRY(Count(path, run, *info, *content, ended, report));
  ++report.files_read;
  report.cells_refused += content->refused_cells;
  if (!ended) {
    ++report.files_left;
    return {};
  }
  // The snapshot outlives the file: if we are killed in between, the next harvest finds the file
  // already counted. It is deleted in the next transaction, since each transaction costs a disk
  // write.
  if (InodeOf(path) == run.inode && ::unlink(path.c_str()) == 0) ++report.files_finished;
  missing_.push_back(run);
  return {};
}

Status Harvester::Count(const std::filesystem::path& path, const spool::RunIdentity& run,
                        const runs::RunInfo& info, const runs::RunContent& content, bool ended,
                        HarvestReport& report) {
  FIELDCOST_ASSIGN(sqlite::Transaction transaction, database_->Begin());
  FIELDCOST_TRY(ForgetMissing());
  // A file that is gone has been counted, and its snapshot may be gone, too: do not count it again.
  if (InodeOf(path) != run.inode) return {};
  // Read inside the transaction: withdrawing consent first writes the file and then removes the
  // rows that this transaction may have added.
  const auto consent = settings::EffectiveConsent(*paths_);
  const settings::Consent decision = consent ? *consent : settings::Consent{};
  if (!info.forced && !settings::MayKeep(decision, info.start())) return {};
  const bool may_send = settings::MaySend(decision, info.start(), info.forced || info.asked);
  FIELDCOST_ASSIGN(const spool::RunSnapshot before, database_->FindSnapshot(run));
  HarvestReport counted;
  const std::uint64_t now = SecondOf(clock_->Now());
  spool::RunSnapshot changes{
      .looked_second = now, .numbers = NumbersOf(info, content, before.numbers), .totals = {}};
  // Calls are dated with the time of the previous harvest, or with the run's start, so that a query
  // for calls after a given time never returns earlier ones.
  const spool::RecentKey when{
      .second = before.is_known ? before.looked_second : std::min(SecondOf(info.start()), now),
      .request = info.request_id,
      .is_fielded = !info.forced && !info.asked};
  for (const runs::RunCell& cell : content.cells) {
    FIELDCOST_TRY(
        CountCell(cell, content.picks[cell.pick], before, when, may_send, changes, counted));
  }
  for (const runs::RunCell& cell : SingleValues(info, content, ended)) {
    if (before.totals.contains({cell.pick, cell.metric})) continue;
    FIELDCOST_TRY(
        CountCell(cell, content.picks[cell.pick], before, when, may_send, changes, counted));
  }
  if (!before.is_known) FIELDCOST_TRY(CountRun(info));
  if (!before.is_known || !changes.totals.empty() || changes.numbers != before.numbers) {
    FIELDCOST_TRY(database_->SaveSnapshot(run, changes));
    FIELDCOST_TRY(AddNumbers(info, before.numbers, changes.numbers));
  }
  FIELDCOST_TRY(transaction.Commit());
  missing_.clear();
  report.calls += counted.calls;
  return {};
}

// Counts runs by kind. Runs that were not drawn have a count but no file.
Status Harvester::CountRun(const runs::RunInfo& info) {
  return database_->Add(
      info.forced || info.asked ? spool::kAskedRunsNumber : spool::kDrawnRunsNumber, 1);
}

// The skip file restarts at 0 on each boot.
Status Harvester::CountNotDrawn() {
  std::uint64_t now = 0;
  for (const runs::SkipCount& skip : runs::ReadSkips(paths_->skip_file())) {
    if (skip.skip == shm::Skip::kNotDrawn) now = skip.runs;
  }
  if (now == 0) return {};
  FIELDCOST_ASSIGN(sqlite::Transaction transaction, database_->Begin());
  FIELDCOST_ASSIGN(const std::uint64_t seen, database_->Get(spool::kNotDrawnSeenNumber, 0));
  if (now == seen) return {};
  FIELDCOST_TRY(database_->Add(spool::kNotDrawnRunsNumber, runs::CountedSince(now, seen)));
  FIELDCOST_TRY(database_->Set(spool::kNotDrawnSeenNumber, now));
  return transaction.Commit();
}

Status Harvester::AddNumbers(const runs::RunInfo& info, const spool::RunNumbers& before,
                             const spool::RunNumbers& now) {
  const std::uint64_t timed = now.timed_calls - before.timed_calls;
  const std::uint64_t untimed = now.untimed_calls - before.untimed_calls;
  // 512 picks of kMaxRunCalls calls at kMaxCallCostPs each: below 2^79.
  const stats::Uint128 overhead_ps =
      stats::Uint128{timed} * info.timed_call_ps + stats::Uint128{untimed} * info.untimed_call_ps;
  FIELDCOST_TRY(database_->Add(spool::kLostCallsNumber, now.lost_calls - before.lost_calls));
  FIELDCOST_TRY(database_->Add(spool::kTimedCallsNumber, timed));
  FIELDCOST_TRY(database_->Add(spool::kUntimedCallsNumber, untimed));
  FIELDCOST_TRY(
      database_->Add(spool::kDroppedPicksNumber, now.dropped_picks - before.dropped_picks));
  FIELDCOST_TRY(
      database_->Add(spool::kRefusedCellsNumber, now.refused_cells - before.refused_cells));
  return database_->Add(spool::kOverheadNumber, static_cast<std::uint64_t>(overhead_ps / kPsPerNs));
}

Status Harvester::CountCell(const runs::RunCell& cell, const runs::RunPick& pick,
                            const spool::RunSnapshot& before, const spool::RecentKey& when,
                            bool may_send, spool::RunSnapshot& changes, HarvestReport& report) {
  stats::CostHistogram difference = cell.histogram;
  const auto counted = before.totals.find({cell.pick, cell.metric});
  if (counted != before.totals.end()) {
    if (cell.histogram == counted->second) return {};
    // Less than before: another harvester has read a newer state, or the file has been tampered
    // with.
    if (!difference.Subtract(counted->second)) return {};
  }
  const spool::LocalKey key{.api = pick.api, .metric = cell.metric, .week = WeekOf(clock_->Now())};
  FIELDCOST_TRY(database_->AddLocal(key, difference, pick.is_private));
  FIELDCOST_TRY(database_->AddRecent(when, key, difference));
  if (may_send && !pick.is_private) {
    FIELDCOST_TRY(database_->AddPending(key, difference, clock_->Now()));
  }
  changes.totals[{cell.pick, cell.metric}] = cell.histogram;
  if (cell.metric == pick.first_metric) report.calls += difference.count();
  return {};
}

Status Harvester::Refuse(const std::filesystem::path& path, const Error& why,
                         HarvestReport& report) {
  const std::filesystem::path directory = path.parent_path() / kRefusedDirectory;
  const std::string name = path.filename().string();
  FIELDCOST_TRY(MakeDirectories(directory, 0700));
  LimitRefused(directory);
  if (::rename(path.c_str(), (directory / name).c_str()) != 0) {
    if (errno == ENOENT) return {};
    return ErrnoError("set aside", path, errno);
  }
  LogWarning("run file {} is refused and set aside: {}", name, why.message);
  ++report.files_refused;
  if (report.refused_reason.empty()) report.refused_reason = why.message;
  return database_->Add(spool::kRefusedFilesNumber, 1);
}

bool Harvester::IsThere(const spool::RunIdentity& run) const {
  return std::any_of(directories_.begin(), directories_.end(), [&](const auto& directory) {
    return InodeOf(directory / run.name) == run.inode;
  });
}

// Whether a missing run file is gone for all harvesters. This process may see a different memory
// directory: a container that shares the user's home may have its own /dev/shm, and a session's
// directory ends with the session. Another harvester may still count such runs; they are lost at
// reboot.
Result<bool> Harvester::SeesAllRuns() {
  const std::string boot_id = runs::BootId();
  const std::string place = PlaceOf(paths_->run_dir(), boot_id);
  FIELDCOST_ASSIGN(const std::string last, database_->GetText(kRunPlaceText));
  if (place.empty() || last.starts_with(boot_id + " ")) return place == last;
  FIELDCOST_TRY(database_->SetText(kRunPlaceText, place));
  return true;
}

Status Harvester::FindMissing() {
  missing_.clear();
  FIELDCOST_ASSIGN(const std::vector<spool::RunIdentity> runs, database_->Snapshots());
  if (runs.empty()) return {};
  FIELDCOST_ASSIGN(const bool sees_all, SeesAllRuns());
  if (!sees_all) return {};
  std::copy_if(runs.begin(), runs.end(), std::back_inserter(missing_),
               [&](const spool::RunIdentity& run) { return !IsThere(run); });
  return {};
}

Status Harvester::ForgetMissing() {
  for (const spool::RunIdentity& run : missing_) {
    if (!IsThere(run)) FIELDCOST_TRY(database_->RemoveSnapshot(run));
  }
  return {};
}

bool Harvester::IsPublic(const stats::ApiKey& api, const PackageOwner& owner) const {
  if (extra_modules_.contains(api.soname)) return true;
  const auto module = public_modules_.find(api.soname);
  if (module == public_modules_.end() || owner.package.empty()) return false;
  return module->second.empty() || module->second == owner.package;
}

}  // namespace fieldcost::harvest
