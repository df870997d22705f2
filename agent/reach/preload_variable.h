#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace fieldcost::agent {

// What LD_PRELOAD is to be for a program that `library` measures: that one (empty: none), and what
// is there already, `present` or what the variable has in this process, but for the field's
// library: two that measure one program measure each other.
std::string PreloadWith(const std::filesystem::path& library);
std::string PreloadWith(const std::filesystem::path& library, std::string_view present);

}  // namespace fieldcost::agent
