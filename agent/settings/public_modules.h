#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "agent/settings/agent_config.h"
#include "common/wire/policy.h"

namespace fieldcost::settings {

// Sonames of well-known libraries that every Debian user can install, ascending. The use of one of
// them and its costs reveal nothing about the user.
std::span<const std::string_view> PublicModules();

// Whether `soname` is in the list.
bool IsPublicModule(std::string_view soname);

// The modules that may be measured and sent in addition to those that the user names: the list of
// the service's policy, or else the built-in one; empty if the user disables both (builtin_modules
// = false).
std::vector<wire::PolicyModule> PublicModulesOf(const AgentConfig& config);

// Represents all functions of non-public libraries: their measurements are summed under this name
// and never sent.
inline constexpr char kPrivateName[] = "(private)";

}  // namespace fieldcost::settings
