#pragma once

#include <chrono>
#include <filesystem>

#include "common/base/result.h"

namespace fieldcost {

// Takes the exclusive lock (flock) of the open file; waits for another holder up to `wait`, by
// asking 50 times a second: a signal that ended flock(2) would be the whole process's. Returns
// false if another process still holds it. The kernel releases it with the descriptor.
Result<bool> LockWithin(int fd, const std::filesystem::path& path, std::chrono::milliseconds wait);

}  // namespace fieldcost
