#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/command/command.h"

namespace fieldcost::command {

// Runs a program's command line: calls the handler, or prints help, the version, or a one-line
// error on standard error. Returns the exit status. `arguments` excludes the program's name.
int RunProgram(const Command& program, std::string_view version,
               std::vector<std::string> arguments);

}  // namespace fieldcost::command
