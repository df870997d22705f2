#pragma once

#include <filesystem>

#include "common/base/result.h"

namespace fieldcost::agent {

// What the administrator of a machine permits: /etc/fieldcost/system.toml,
//   [consent]
//   permit = false
//   [probe]
//   permit = false
// It can only forbid: each user still decides (consent.h). A missing file permits; an unreadable or
// invalid one, or a dangling link, forbids.
struct SystemPolicy {
  bool permit = true;        // the anonymous measurements
  bool permit_probe = true;  // probe points
};

// An error states what is wrong with the file; the caller must then treat it as forbidding.
Result<SystemPolicy> LoadSystemPolicy(const std::filesystem::path& file);

// kPermissionDenied unless the file permits collection: names the file, its content or its
// problem, and who can change it.
Status CheckPermitted(const std::filesystem::path& file);

}  // namespace fieldcost::agent
