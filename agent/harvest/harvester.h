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

namespace fieldcost::harvest {

struct HarvestReport {
  std::uint32_t files_read = 0;
  std::uint32_t files_finished = 0;  // process has ended: finally summed and removed
  std::uint32_t files_refused = 0;   // corrupt or foreign: moved to runs/refused/
  std::uint32_t files_left = 0;      // process is still running
  std::uint32_t cells_refused = 0;   // sums that no calls could produce
  std::uint64_t calls = 0;           // newly counted
  std::string refused_reason;        // for the first refused file
};

// Turns run files into rows. A file's growth since its last harvest and the new snapshot are
// written in one transaction, so every call is counted exactly once, however many harvesters there
// are and wherever they are killed. Rows get the week of the harvest.
class Harvester {
 public:
  Harvester(const settings::AgentPaths& paths, const settings::AgentConfig& config,
            const Clock& clock, spool::StateDb& database);

  Result<HarvestReport> HarvestAll();

 private:
  Status HarvestFile(const std::filesystem::path& path, HarvestReport& report);
  // Sets versions from the packages that own the modules, and removes the names of non-public
  // functions.
  Status NamePicks(const runs::RunInfo& info, runs::RunContent& content);
  Status Count(const std::filesystem::path& path, const spool::RunIdentity& run,
               const runs::RunInfo& info, const runs::RunContent& content, bool ended,
               HarvestReport& report);
  Status CountRun(const runs::RunInfo& info);
  Status CountNotDrawn();
  Status AddNumbers(const runs::RunInfo& info, const spool::RunNumbers& before,
                    const spool::RunNumbers& now);
  Status CountCell(const runs::RunCell& cell, const runs::RunPick& pick,
                   const spool::RunSnapshot& before, const spool::RecentKey& when, bool may_send,
                   spool::RunSnapshot& changes, HarvestReport& report);
  Status Refuse(const std::filesystem::path& path, const Error& why, HarvestReport& report);
  bool IsThere(const spool::RunIdentity& run) const;
  Result<bool> SeesAllRuns();
  Status FindMissing();
  Status ForgetMissing();
  bool IsPublic(const stats::ApiKey& api, const PackageOwner& owner) const;

  const settings::AgentPaths* paths_;
  const Clock* clock_;
  spool::StateDb* database_;
  std::map<std::string, std::string> public_modules_;  // soname -> package; empty = any
  std::set<std::string> extra_modules_;
  std::vector<std::filesystem::path> directories_;  // may contain run files
  std::vector<spool::RunIdentity> missing_;  // counted and unlinked; snapshot not deleted yet
};

// A run's numbers about the measurement itself, never less than `before`: the numbers of a running
// program are not read at one instant, and another harvester may have read newer ones. Pure.
spool::RunNumbers NumbersOf(const runs::RunInfo& info, const runs::RunContent& content,
                            const spool::RunNumbers& before);

// The metrics with at most one value per run: the number of calls and their total time, once the
// run has ended (until then, even a pick whose time is over may have a call in progress), and the
// time of the first call. The total time is weighted by the number of runs that the pick
// represents; a manual pick represents none. Pure.
std::vector<runs::RunCell> SingleValues(const runs::RunInfo& info, const runs::RunContent& content,
                                        bool ended);

// The existing run files (RunDirectories()), in ascending order within each directory.
Result<std::vector<std::filesystem::path>> ListRunFiles(const settings::AgentPaths& paths);

// Removes the run files, even those of running programs, except those of manual picks. REQUIRES:
// collection is not permitted. Running programs may continue until their next phase, and that must
// not be counted when collection is permitted again.
Status RemoveUnwantedRuns(const settings::AgentPaths& paths);

}  // namespace fieldcost::harvest
