#pragma once

#include <chrono>
#include <filesystem>
#include <optional>

#include "common/base/file.h"
#include "common/base/result.h"

namespace fieldcost {

// Takes the exclusive lock (flock) of the open file. If it is held, polls 50 times per second for
// up to `wait`, since interrupting a blocking flock(2) would require a process-wide signal. Returns
// false if another process still holds it. The kernel releases the lock with the descriptor.
Result<bool> LockWithin(int fd, const std::filesystem::path& path, std::chrono::milliseconds wait);

// Opens the file, creating it if missing (mode 0600), and takes its lock as above. nullopt if
// another process still holds it.
Result<std::optional<UniqueFd>> TakeLockFile(const std::filesystem::path& path,
                                             std::chrono::milliseconds wait);

// Waits up to `wait` until no process holds the file's lock; false if one still does. A missing
// file counts as unlocked and is not created.
Result<bool> WaitForLockFile(const std::filesystem::path& path, std::chrono::milliseconds wait);

}  // namespace fieldcost
