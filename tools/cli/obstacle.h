#pragma once

#include <string>

namespace fieldcost::cli {

// Why nothing can be loaded into this program, looked up in PATH, as every command reports it: its
// name and the reason ("./app: linked statically, so nothing can be loaded into it"). Empty if
// something can, if that is not known, or if there is no such program.
std::string Obstacle(const std::string& program);

}  // namespace fieldcost::cli
