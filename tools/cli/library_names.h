#pragma once

#include <set>
#include <string>
#include <vector>

#include "common/base/result.h"

namespace fieldcost::cli {

using Sonames = std::set<std::string, std::less<>>;

// The libraries that a user has named, ascending: the one of that soname; else those that it
// matches as a glob; else those whose sonames contain it. kNotFound if there is none, with names
// that are near, by letters or because only "lib" and version differ.
Result<std::vector<std::string>> MatchLibraries(const Sonames& sonames, const std::string& name);

}  // namespace fieldcost::cli
