#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "agent/harvest/module_version.h"
#include "agent/runs/run_file_reader.h"
#include "agent/settings/agent_config.h"
#include "agent/settings/paths.h"
#include "agent/spool/state_db.h"
#include "common/base/clock.h"
#include "common/base/result.h"

namespace fieldcost::agent {

struct HarvestReport {
  std::uint32_t files_read = 0;
  std::uint32_t files_finished = 0;  // their process has ended: summed for good and removed
  std::uint32_t files_refused = 0;   // corrupt or foreign: set aside in runs/refused/
  std::uint32_t files_left = 0;      // their process still runs
  std::uint32_t cells_refused = 0;   // sums that no calls could have made
  std::uint64_t calls = 0;           // newly counted
  std::string refused_reason;        // of the first refused file
};

// Turns run files into rows. The growth of a file since its last harvest is added in one
// transaction together with the new snapshot, so that any number of harvesters, killed anywhere,
// count every call once. Rows get the week of the harvest.
class Harvester {
 public:
  Harvester(const AgentPaths& paths, const AgentConfig& config, const Clock& clock,
            StateDb& database);

  Result<HarvestReport> HarvestAll();

 private:
  Status HarvestFile(const std::filesystem::path& path, HarvestReport& report);
  // Sets versions from the packages that own the modules; functions that are not public lose their
  // names.
  Status NamePicks(const RunInfo& info, RunContent& content);
  Status Count(const std::filesystem::path& path, const RunIdentity& run, const RunInfo& info,
               const RunContent& content, bool ended, HarvestReport& report);
  Status CountRun(const RunInfo& info);
  Status CountNotDrawn();
  Status AddNumbers(const RunInfo& info, const RunNumbers& before, const RunNumbers& now);
  Status CountCell(const RunCell& cell, const RunPick& pick, const RunSnapshot& before,
                   const RecentKey& when, bool may_send, RunSnapshot& changes,
                   HarvestReport& report);
  Status Refuse(const std::filesystem::path& path, const Error& why, HarvestReport& report);
  bool IsThere(const RunIdentity& run) const;
  Result<bool> SeesAllRuns();
  Status FindMissing();
  Status ForgetMissing();
  bool IsPublic(const stats::ApiKey& api, const PackageOwner& owner) const;

  const AgentPaths* paths_;
  const Clock* clock_;
  StateDb* database_;
  std::map<std::string, std::string> public_modules_;  // soname -> package, empty = any
  std::set<std::string> extra_modules_;
  std::vector<std::filesystem::path> directories_;  // that may hold run files
  std::vector<RunIdentity> missing_;                // counted and gone, snapshots still there
};

// A run's numbers about the measuring itself, never less than `before`: while a program runs, its
// numbers are not read at one instant, and another harvester may have read newer ones. Pure.
RunNumbers NumbersOf(const RunInfo& info, const RunContent& content, const RunNumbers& before);

// The metrics of which a run gives at most one value: calls and the time they took together, once
// it has ended (until then even a pick whose time is over may be in the middle of one), and the
// first call's time. The time weighs as many runs as the pick stands for; what was picked by hand
// stands for none. Pure.
std::vector<RunCell> SingleValues(const RunInfo& info, const RunContent& content, bool ended);

// The run files that are there (RunDirectories()), ascending in each directory.
Result<std::vector<std::filesystem::path>> ListRunFiles(const AgentPaths& paths);

// Removes the run files, also of programs that run, except what was picked by hand. REQUIRES:
// nothing is to be collected. Programs that run may go on for a phase, and that must not be counted
// when collecting is permitted again.
Status RemoveUnwantedRuns(const AgentPaths& paths);

}  // namespace fieldcost::agent
