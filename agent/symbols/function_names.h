#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/base/result.h"

namespace fieldcost::symbols {

// Returns the functions that an ELF file defines, by their linker names, from all its symbol
// tables; sorted, without duplicates. The names are untrusted. Errors: kNotFound,
// kPermissionDenied; kCorrupt if it is not a readable ELF file.
Result<std::vector<std::string>> FunctionNames(const std::filesystem::path& path);

}  // namespace fieldcost::symbols
