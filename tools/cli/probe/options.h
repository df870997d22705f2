#pragma once

#include <string_view>

#include "common/command/arguments.h"
#include "common/command/command.h"
#include "tools/cli/probe/selection.h"

namespace fieldcost::cli {

// What the viewing commands below `fieldcost probe` share.

command::Option ProbeDbOption();  // "--db"
command::Option ProbeLabelOption();
// An operand that is checked by ParseEventSelection().
command::Option ProbeSelectionOperand(std::string_view name, std::string_view value,
                                      std::string_view help);
// "event", the name of one.
command::Option ProbeEventOperand();

// --build, --tag, --program.
void AddProbeFilters(command::Command& command);
// What was said of these and of --label.
EventSelection ProbeFilterOf(const command::Arguments& arguments);

}  // namespace fieldcost::cli
