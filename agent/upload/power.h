#pragma once

#include <filesystem>
#include <string>

#include "agent/settings/config.h"
#include "agent/settings/paths.h"
#include "common/base/clock.h"

namespace fieldcost::agent {

// Whether uploading now would cost the user: asked at the time of an upload only, so nothing wakes
// up for it. What cannot be found out counts as no cost: a desktop machine knows neither.

// True if a battery discharges and no mains or USB supply is online, in a directory like
// /sys/class/power_supply. Batteries of mice and the like (scope "Device") do not count.
bool IsOnBattery(const std::filesystem::path& power_supply_dir);

// True if NetworkManager says that the primary connection is metered, or guesses so. One call over
// the system's message bus, bounded by a second; never starts NetworkManager. `bus_address` as of
// D-Bus; empty = the usual one.
bool IsMetered(const std::string& bus_address);

// What an upload should wait for, as a phrase ("mains power"); empty if it need not, or the
// configuration says that it does not matter. Above all the end of a break (pause.h).
std::string WaitReason(const AgentPaths& paths, const AgentConfig& config, WallTime now);

}  // namespace fieldcost::agent
