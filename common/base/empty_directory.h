#pragma once

#include <filesystem>

#include "common/base/result.h"

namespace fieldcost {

// Like MakeDirectories(), but kAlreadyExists if the directory is not empty.
Status MakeEmptyDirectory(const std::filesystem::path& path, int mode);

}  // namespace fieldcost
