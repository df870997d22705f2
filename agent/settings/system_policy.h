#pragma once

#include <filesystem>

#include "common/base/result.h"

namespace fieldcost::settings {

// The permissions set by the machine's administrator: /etc/fieldcost/system.toml,
//   [consent]
//   permit = false
//   [probe]
//   permit = false
// The file can only forbid: each user still decides (consent.h). A missing file permits; an
// unreadable or invalid one, or a dangling link, forbids.
struct SystemPolicy {
  bool permit = true;        // the anonymous measurements
  bool permit_probe = true;  // probe points
};

// On error, which describes the problem with the file, the caller must treat it as forbidding.
Result<SystemPolicy> LoadSystemPolicy(const std::filesystem::path& file);

// Returns OK if the file permits collection, or else kPermissionDenied, which names the file, its
// content or problem, and who can change it.
Status CheckPermitted(const std::filesystem::path& file);

}  // namespace fieldcost::settings
