#pragma once

#include <span>
#include <string_view>

namespace fieldcost::daemon {

// Sonames of well-known libraries that every Debian user can install, ascending. That a program
// uses one of them, and what its functions cost, tells nothing about who runs it.
std::span<const std::string_view> PublicModules();

// Whether `soname` is in the list.
bool IsPublicModule(std::string_view soname);

}  // namespace fieldcost::daemon
