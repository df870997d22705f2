#pragma once

#include "agent/settings/paths.h"

namespace fieldcost::probe {

// Removes raw stacks from the rings of ended programs whose recorder is gone, in all sessions.
// Deletes files that cannot be wiped. Costs a few system calls if there are no sessions. Never
// blocks: a session that another process collects is left to that process.
void WipeAbandonedRings(const settings::AgentPaths& paths);

}  // namespace fieldcost::probe
