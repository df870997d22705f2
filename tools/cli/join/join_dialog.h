#pragma once

#include <optional>

#include "agent/settings/paths.h"
#include "common/base/result.h"
#include "tools/cli/join/join_service.h"
#include "tools/cli/terminal/output.h"

namespace fieldcost::cli {

// Asks the service, shows what it states and what joining means, asks the user unless `yes`, and
// joins. Returns the exit status. kInvalidArgument: the question cannot be asked; errors of
// CheckMayJoin(), AskService() and, after some steps were done, Join().
Result<int> JoinByDialog(JoinRequest request, bool yes, const Output& output);

// The service that an installer's presets suggest, unless the user's agent.toml names one or a
// service has been joined already: `agent on` is then the user's yes to it.
Result<std::optional<JoinRequest>> PresetService(const settings::AgentPaths& paths);

}  // namespace fieldcost::cli
