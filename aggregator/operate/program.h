#pragma once

#include <functional>
#include <string>

#include "aggregator/config/config.h"
#include "common/base/result.h"
#include "common/command/command.h"
#include "common/command/parse.h"

namespace fieldcost::aggregator {

// fieldcost-aggregator as a value: `serve`, which is also what it does without a command, and the
// commands of an operator.
command::Command Program(command::Command serve);

// Tries what a start with this configuration needs, and says in lines what it found.
using CheckConfig = std::function<Result<std::string>(const Config&)>;

// Does what is asked for, with --check-config only `check`; returns the exit status.
Result<int> Run(const command::Call& call, const CheckConfig& check);

}  // namespace fieldcost::aggregator
