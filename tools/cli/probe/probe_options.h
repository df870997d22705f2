#pragma once

#include <string_view>

#include "common/command/arguments.h"
#include "common/command/command.h"
#include "tools/cli/probe/event_selection.h"

namespace fieldcost::cli {

// Options of the `fieldcost probe` commands that show events.

command::Option ProbeDbOption();  // "--db"
command::Option ProbeLabelOption();
// An operand, checked by ParseEventSelection().
command::Option ProbeSelectionOperand(std::string_view name, std::string_view value,
                                      std::string_view help);
// "event": the name of one event.
command::Option ProbeEventOperand();

// --build, --tag, --program.
void AddProbeFilters(command::Command& command);
// The values of these options and of --label.
EventSelection ProbeFilterOf(const command::Arguments& arguments);

}  // namespace fieldcost::cli
