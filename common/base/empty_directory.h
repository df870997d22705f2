#pragma once

#include <filesystem>

#include "common/base/result.h"

namespace fieldcost {

// As MakeDirectories(); kAlreadyExists if there is anything in it.
Status MakeEmptyDirectory(const std::filesystem::path& path, int mode);

}  // namespace fieldcost
