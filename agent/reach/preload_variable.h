#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace fieldcost::reach {

// Returns the value of LD_PRELOAD for a program that `library` measures: that library (none if
// empty), followed by the existing value (`present`, or this process's) without the field's
// library. Two libraries that measure one program would measure each other.
std::string PreloadWith(const std::filesystem::path& library);
std::string PreloadWith(const std::filesystem::path& library, std::string_view present);

}  // namespace fieldcost::reach
