#pragma once

#include <filesystem>
#include <string>

#include "agent/settings/agent_config.h"
#include "agent/settings/paths.h"
#include "common/base/clock.h"

namespace fieldcost::upload {

// Whether uploading now would cost the user. Checked only when an upload is due, so it causes no
// wake-ups. If unknown, it does not: desktop machines often have information about neither.

// True if a battery is discharging and no mains or USB supply is online, in a directory like
// /sys/class/power_supply. Batteries of mice and the like (scope "Device") do not count.
bool IsOnBattery(const std::filesystem::path& power_supply_dir);

// True if NetworkManager reports or guesses that the primary connection is metered. One call over
// the system's message bus, bounded by a second; never starts NetworkManager. `bus_address` is a
// D-Bus address; empty = the default.
bool IsMetered(const std::string& bus_address);

// What an upload should wait for, as a phrase ("mains power"); empty if it need not wait or the
// configuration ignores the reason. The end of a pause (agent/settings/pause.h) takes precedence.
std::string WaitReason(const settings::AgentPaths& paths, const settings::AgentConfig& config,
                       WallTime now);

}  // namespace fieldcost::upload
