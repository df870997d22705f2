#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "agent/settings/agent_config.h"
#include "agent/settings/paths.h"
#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/catalog/catalog.h"
#include "common/catalog/catalog_sync.h"

namespace fieldcost::refresh {

// Refreshing the catalogue without a command, from `fieldcostd` and from the timer of
// `fieldcost sync --if-due`. Both may run: the catalogue keeps the schedule, and its lock lets one
// of them fetch. Off until the user switches it on; needs no consent to measuring, since nothing is
// sent but requests for public files.

// Whether the user has switched it on: the file STATE_DIR/refresh exists. Its content is ignored,
// so that removing it switches off even on a full disk.
bool IsOn(const settings::AgentPaths& paths);
Status SwitchOn(const settings::AgentPaths& paths);
Status SwitchOff(const settings::AgentPaths& paths);

// When it will next be due; at or before the present means now. nullopt: it is off, or no service
// is configured. Call again after sleep and after a change of the clock.
Result<std::optional<WallTime>> NextTime(const settings::AgentPaths& paths,
                                         const settings::AgentConfig& config, const Clock& clock);

struct RefreshOutcome {
  std::optional<catalog::SyncReport> report;  // nullopt: nothing was tried
  std::string why_not;                        // "mains power", if it waits for that
};

// Refreshes if that is on, due, and permitted by power, connection and pause, as for uploads
// (agent/upload/power.h). Ends early once it is switched off or paused. Errors as for
// catalog::Sync(); another process that is syncing is no error.
Result<RefreshOutcome> RefreshIfDue(const settings::AgentPaths& paths,
                                    const settings::AgentConfig& config, const Clock& clock);

struct RefreshStatus {
  bool is_on = false;
  std::optional<catalog::Freshness> catalogue;  // nullopt: there is none
  std::uint32_t failures = 0;                   // of automatic refreshes, in a row
  std::string problem;                          // of the last attempt; empty = none
  std::optional<WallTime> next;                 // of the automatic refreshes; nullopt: none
  std::string waiting_for;                      // "mains power"; empty = nothing
};
// Changes nothing and contacts no service.
RefreshStatus GetStatus(const settings::AgentPaths& paths, const settings::AgentConfig& config,
                        const Clock& clock);

}  // namespace fieldcost::refresh
