#pragma once

#include <filesystem>

#include "common/base/file.h"

namespace fieldcost::store {

// Locks a data directory for this process; the lock is released with the returned descriptor, at
// the latest when the process ends. kAlreadyExists: another process has it.
Result<UniqueFd> LockDirectory(const std::filesystem::path& data_dir);

// Whether another process has locked the directory. Creates no file.
bool IsLocked(const std::filesystem::path& data_dir);

}  // namespace fieldcost::store
