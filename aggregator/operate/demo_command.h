#pragma once

#include "aggregator/operate/command_line.h"
#include "common/base/clock.h"
#include "common/base/result.h"

namespace fieldcost::aggregator {

// `demo`: makes the directory and says how to look at it. Errors: demo::MakeDemo().
Status RunDemo(const CommandLine& line, const Clock& clock);

}  // namespace fieldcost::aggregator
