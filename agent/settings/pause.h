#pragma once

#include <optional>

#include "agent/settings/paths.h"
#include "common/base/clock.h"
#include "common/base/result.h"

namespace fieldcost::settings {

// A pause requested by the user: nothing is measured or sent; unsent data and the decision
// (consent.h) stay unchanged. The file `paused` in the state directory contains its end.

// The end of a pause that lasts until `resume`.
inline constexpr WallTime kUntilResumed = WallTime::max();

// The end of the pause in effect at `now`; nullopt if none. An invalid file counts as a pause until
// resumed.
std::optional<WallTime> PausedUntil(const AgentPaths& paths, WallTime now);

// Rounds up to whole seconds. Replaces an existing pause.
Status SavePause(const AgentPaths& paths, WallTime until);
// Returns true if there was a pause.
Result<bool> EndPause(const AgentPaths& paths);

}  // namespace fieldcost::settings
