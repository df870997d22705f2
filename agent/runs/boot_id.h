#pragma once

#include <string>

namespace fieldcost::agent {

// What the kernel calls this boot of the machine, another one each time; empty if it does not tell.
std::string BootId();

}  // namespace fieldcost::agent
