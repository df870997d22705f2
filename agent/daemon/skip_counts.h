#pragma once

#include <filesystem>
#include <vector>

#include "agent/daemon/agent.h"
#include "common/base/result.h"

namespace fieldcost::daemon {

// The skip file of common/shm/skip_file.h, in which programs count why they were not measured.

// Makes it whole (mode 0600), so that counting needs no more space; one that is valid is left as it
// is, since programs have it mapped.
Status MakeSkipFile(const std::filesystem::path& file);

// Its counts that are not zero, in the order of shm::Skip; none if there is no valid file.
std::vector<SkipCount> ReadSkips(const std::filesystem::path& file);

}  // namespace fieldcost::daemon
