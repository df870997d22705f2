#pragma once

#include <filesystem>
#include <string>

#include "agent/settings/paths.h"
#include "common/base/result.h"

namespace fieldcost::cli {

// The user units of the agent (deploy/systemd), which start fieldcostd when a measured program has
// left a run file.

// The directory of the link that enables the unit.
std::filesystem::path UnitLinkDirectory();
// Whether the unit is enabled; runs no program.
bool AreUnitsEnabled();

// Why the user's service manager cannot start the agent of these paths; empty if it can.
std::string WhyNoUnits(const settings::AgentPaths& paths);

// systemctl --user enable --now, disable --now. REQUIRES: WhyNoUnits() is empty.
Status EnableUnits();
Status DisableUnits();

// What to do without a service manager, as one line.
inline constexpr char kWithoutUnits[] =
    "keep fieldcostd running, or run it hourly from cron: fieldcostd --once";
inline constexpr char kEnableUnitsCommand[] = "systemctl --user enable --now fieldcostd.path";

}  // namespace fieldcost::cli
