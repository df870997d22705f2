#pragma once

#include <optional>

#include "agent/settings/paths.h"
#include "common/base/clock.h"
#include "common/base/result.h"

namespace fieldcost::agent {

// The user's break: meanwhile nothing is measured and nothing sent, what is unsent stays, and the
// decision (consent.h) stays as it is. The file `paused` in the state directory holds its end.

// The end of a break that only `resume` ends.
inline constexpr WallTime kUntilResumed = WallTime::max();

// When the break that is on at `now` ends; nullopt if there is none. A file that cannot be
// understood is a break until it is resumed.
std::optional<WallTime> PausedUntil(const AgentPaths& paths, WallTime now);

// Whole seconds; what is left of one counts as one. Replaces a break there is.
Status SavePause(const AgentPaths& paths, WallTime until);
// True if there was one.
Result<bool> EndPause(const AgentPaths& paths);

}  // namespace fieldcost::agent
