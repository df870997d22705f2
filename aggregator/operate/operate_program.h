#pragma once

#include <functional>
#include <string>

#include "aggregator/config/aggregator_config.h"
#include "common/base/result.h"
#include "common/command/command.h"
#include "common/command/parse.h"

namespace fieldcost::aggregator {

// fieldcost-aggregator as a value: `serve`, which also runs if no command is given, and the
// operator's commands.
command::Command Program(command::Command serve);

// Checks the prerequisites of a start with this configuration, and returns its findings as lines.
using CheckConfig = std::function<Result<std::string>(const Config&)>;

// Runs the requested command, or only `check` with --check-config; returns the exit status.
Result<int> Run(const command::Call& call, const CheckConfig& check);

}  // namespace fieldcost::aggregator
