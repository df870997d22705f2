#pragma once

#include "agent/settings/paths.h"
#include "common/base/result.h"

namespace fieldcost::cli {

// Switches measuring and sending off. Stores the decision first, so that neither a damaged database
// nor an invalid configuration can prevent it. An error after that reports what was not cleaned up.
Status SwitchOff(const settings::AgentPaths& paths);

}  // namespace fieldcost::cli
