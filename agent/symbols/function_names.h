#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/base/result.h"

namespace fieldcost::symbols {

// The functions that an ELF file defines, as linkers know them, of all its symbol tables; sorted,
// each once. Untrusted texts. kNotFound, kPermissionDenied; kCorrupt: not an ELF file that can be
// read.
Result<std::vector<std::string>> FunctionNames(const std::filesystem::path& path);

}  // namespace fieldcost::symbols
