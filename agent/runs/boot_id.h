#pragma once

#include <string>

namespace fieldcost::agent {

// The kernel's boot id, unique per boot; empty if unavailable.
std::string BootId();

}  // namespace fieldcost::agent
