#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "agent/settings/config.h"
#include "common/wire/policy.h"

namespace fieldcost::agent {

// Sonames of well-known libraries that every Debian user can install, ascending. That a program
// uses one of them, and what its functions cost, tells nothing about who runs it.
std::span<const std::string_view> PublicModules();

// Whether `soname` is in the list.
bool IsPublicModule(std::string_view soname);

// What may be measured and sent beside what the user names: the list of the service's policy, else
// the built-in one, and nothing if the user wants neither (builtin_modules = false).
std::vector<wire::PolicyModule> PublicModulesOf(const AgentConfig& config);

// Stands for every function of a library that is not public: what is measured of those is added up
// under this name and never sent.
inline constexpr char kPrivateName[] = "(private)";

}  // namespace fieldcost::agent
