#pragma once

#include <vector>

#include "agent/settings/paths.h"
#include "tools/cli/join/join_record.h"
#include "tools/cli/join/join_steps.h"

namespace fieldcost::cli {

// Undoes everything that Join() has changed and everything that the agent has written since, except
// what existed before: switches off, ends units and session, then removes the files. The record is
// removed last, so that an interrupted or incomplete attempt can be repeated. Probe points and what
// the user put into these directories stay.
std::vector<JoinStep> Leave(const JoinRecord& record, const settings::AgentPaths& paths,
                            const Clock& clock);

}  // namespace fieldcost::cli
