#pragma once

#include <string_view>

#include "aggregator/config/config.h"
#include "aggregator/operate/command_line.h"
#include "common/base/clock.h"
#include "common/base/result.h"

namespace fieldcost::aggregator {

// Runs a command other than serve, help and version, and prints its result to stdout. What needs
// the store opens it if no server runs, and otherwise asks the server (ask_service.h). False:
// verify found something wrong with the data.
Result<bool> Operate(const CommandLine& line, const Config& config, const Clock& clock);

}  // namespace fieldcost::aggregator
