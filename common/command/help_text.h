#pragma once

#include <span>
#include <string>

#include "common/command/command.h"

namespace fieldcost::command {

// "fieldcost agent log", from the program to the command.
std::string NameOf(std::span<const Command* const> path);

// The --help text of the last command of the path, which begins with the program.
std::string HelpText(std::span<const Command* const> path);

// The option that every command has.
const Option& HelpOption();
// The option that every program has.
const Option& VersionOption();

}  // namespace fieldcost::command
