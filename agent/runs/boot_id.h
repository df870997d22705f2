#pragma once

#include <string>

namespace fieldcost::runs {

// The kernel's boot id, unique per boot; empty if unavailable.
std::string BootId();

}  // namespace fieldcost::runs
