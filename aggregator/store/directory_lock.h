#pragma once

#include <filesystem>

#include "common/base/file.h"

namespace fieldcost::store {

// Only one process may have a data directory; the lock goes with the returned descriptor, at the
// latest with the process. kAlreadyExists: another one has it.
Result<UniqueFd> LockDirectory(const std::filesystem::path& data_dir);

// Whether another process has it now. Makes no file.
bool IsLocked(const std::filesystem::path& data_dir);

}  // namespace fieldcost::store
