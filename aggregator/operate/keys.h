#pragma once

#include "aggregator/config/aggregator_config.h"
#include "aggregator/operate/outcome.h"
#include "aggregator/publish/key_rotation.h"
#include "common/base/clock.h"
#include "common/base/result.h"

namespace fieldcost::aggregator {

// The operator's commands for signing keys. All of them also work while a server is running.

// Every key of the newest root, with its file if that is in keys/: as text or as one JSON object.
Result<std::string> ShowKeys(const Config& config, bool json, const Clock& clock);

enum class KeyChange {
  kRotate,  // a new key for a role
  kRenew,   // the same keys with a later expiry
};

// Signs the next root and puts it in force: a running server is asked to publish with it at once, a
// stopped one does so when it starts. `signing` is passed without its data directory.
Result<Outcome> ChangeKeys(const Config& config, KeyChange change, publish::KeyRole role,
                           publish::RotationOptions signing, const Clock& clock);

// Moves the key files of a role that the service does not need, root or policy, to `directory`;
// warns if that is on the disk of the data directory. Errors of publish::ExportOfflineKeys().
Result<Outcome> ExportOffline(const Config& config, publish::KeyRole role,
                              const std::filesystem::path& directory);

}  // namespace fieldcost::aggregator
