#pragma once

#include <chrono>
#include <filesystem>
#include <optional>

#include "common/base/file.h"
#include "common/base/result.h"

namespace fieldcost {

// Takes the exclusive lock (flock) of the open file; waits for another holder up to `wait`, by
// asking 50 times a second: a signal that ended flock(2) would be the whole process's. Returns
// false if another process still holds it. The kernel releases it with the descriptor.
Result<bool> LockWithin(int fd, const std::filesystem::path& path, std::chrono::milliseconds wait);

// Opens the file, which it creates if it is missing (mode 0600), and takes its lock as above.
// nullopt if another process still holds it.
Result<std::optional<UniqueFd>> TakeLockFile(const std::filesystem::path& path,
                                             std::chrono::milliseconds wait);

// Waits until no process holds the file's lock, up to `wait`; false if one still does. A missing
// file, which is not created, has no holder.
Result<bool> WaitForLockFile(const std::filesystem::path& path, std::chrono::milliseconds wait);

}  // namespace fieldcost
