#pragma once

#include <filesystem>
#include <string>

#include "agent/settings/paths.h"
#include "common/base/result.h"

namespace fieldcost::cli {

// A user unit (deploy/systemd) that starts a service of ours.
struct UserUnit {
  const char* name;     // is enabled
  const char* service;  // is started by it
  const char* wanted_by;
};

// Starts fieldcostd when a measured program has left a run file.
inline constexpr UserUnit kAgentUnit{"fieldcostd.path", "fieldcostd.service", "paths.target"};
// Starts `fieldcost sync --if-due` every quarter of an hour, more or less.
inline constexpr UserUnit kRefreshUnit{"fieldcost-sync.timer", "fieldcost-sync.service",
                                       "timers.target"};

// The directory of the link that enables the unit.
std::filesystem::path UnitLinkDirectory(const UserUnit& unit);
// Whether the unit is enabled; runs no program.
bool IsEnabled(const UserUnit& unit);

// Why the user's service manager cannot start the unit for these paths; empty if it can.
std::string WhyNoUnit(const UserUnit& unit, const settings::AgentPaths& paths);

// systemctl --user enable --now, disable --now. REQUIRES: WhyNoUnit() is empty.
Status Enable(const UserUnit& unit);
Status Disable(const UserUnit& unit);

// What to do without a service manager, as one line.
inline constexpr char kWithoutUnits[] =
    "keep fieldcostd running, or run it hourly from cron: fieldcostd --once";
inline constexpr char kEnableUnitsCommand[] = "systemctl --user enable --now fieldcostd.path";
inline constexpr char kWithoutRefreshUnit[] =
    "keep fieldcostd running, or run this hourly from cron: fieldcost sync --if-due";

}  // namespace fieldcost::cli
