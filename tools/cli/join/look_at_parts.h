#pragma once

#include "agent/volunteer/agent.h"
#include "common/base/clock.h"
#include "tools/cli/agent/missing_parts.h"
#include "tools/cli/session/login_session.h"

namespace fieldcost::cli {

// Looks at this machine; changes nothing.
PartFacts LookAtParts(const volunteer::Agent& agent, settings::Mode mode,
                      const SessionReport& session, const Clock& clock);

}  // namespace fieldcost::cli
