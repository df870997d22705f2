#pragma once

#include <string>

namespace fieldcost::cli {

// The reason why no library can be loaded into this program (looked up in PATH), as all commands
// report it: "./app: linked statically, so nothing can be loaded into it". Empty if one can be
// loaded, if that is unknown, or if the program does not exist.
std::string Obstacle(const std::string& program);

}  // namespace fieldcost::cli
