#pragma once

#include <filesystem>
#include <string>

namespace fieldcost::agent {

// What LD_PRELOAD is to be for a program that `library` measures: that one (empty: none), and what
// the variable has in this process but for the field's library. Two that measure one program
// measure each other.
std::string PreloadWith(const std::filesystem::path& library);

}  // namespace fieldcost::agent
