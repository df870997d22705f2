#pragma once

#include "common/base/result.h"
#include "common/command/command.h"
#include "common/command/parse.h"

namespace fieldcost::aggregator {

// fieldcost-aggregator as a value: `serve`, which is also what it does without a command, and the
// commands of an operator.
command::Command Program(command::Command serve);

// Does what is asked for; with --check-config only reads the configuration. The exit status.
Result<int> Run(const command::Call& call);

}  // namespace fieldcost::aggregator
