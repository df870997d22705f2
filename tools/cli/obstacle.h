#pragma once

#include <string>

namespace fieldcost::cli {

// Why no library can be loaded into this program, looked up in PATH, as every command reports it:
// its name and the reason ("./app: linked statically, so nothing can be loaded into it"). Empty if
// one can be loaded, if that is unknown, or if there is no such program.
std::string Obstacle(const std::string& program);

}  // namespace fieldcost::cli
