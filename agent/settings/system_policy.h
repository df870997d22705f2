#pragma once

#include <filesystem>

#include "common/base/result.h"

namespace fieldcost::agent {

// What the administrator of a machine permits: /etc/fieldcost/system.toml,
//   [consent]
//   permit = false
//   [probe]
//   permit = false
// It can only forbid: each user still decides for himself (consent.h). No file: permitted. A file
// that cannot be read or understood, or a link that leads nowhere: not permitted.
struct SystemPolicy {
  bool permit = true;        // the anonymous measurements
  bool permit_probe = true;  // probe points
};

// An error says what is wrong with the file; whoever gets it must behave as if it forbade.
Result<SystemPolicy> LoadSystemPolicy(const std::filesystem::path& file);

// kPermissionDenied unless the file permits collection: names the file, what it says or what is
// wrong with it, and who can change it.
Status CheckPermitted(const std::filesystem::path& file);

}  // namespace fieldcost::agent
