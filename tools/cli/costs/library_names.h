#pragma once

#include <set>
#include <string>
#include <vector>

#include "common/base/result.h"

namespace fieldcost::cli {

using Sonames = std::set<std::string, std::less<>>;

// Returns the libraries that the user's name refers to, ascending: the one with that soname; else
// those that match it as a glob; else those whose sonames contain it. kNotFound if none matches,
// with names that are spelled similarly or differ only in "lib" and version.
Result<std::vector<std::string>> MatchLibraries(const Sonames& sonames, const std::string& name);

}  // namespace fieldcost::cli
