#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/command/command.h"

namespace fieldcost::command {

// Does what a program's command line says, or prints help, the version, or in one line on standard
// error what is wrong. The program's exit status. `arguments` without the program's name.
int RunProgram(const Command& program, std::string_view version,
               std::vector<std::string> arguments);

}  // namespace fieldcost::command
