#pragma once

#include <filesystem>
#include <vector>

#include "aggregator/publish/key_rotation.h"
#include "common/base/result.h"

namespace fieldcost::publish {

// Exports the keys that the service needs neither to run nor to publish. An attacker could use them
// to replace all other keys (root), or to instruct agents what to measure and send (policy).

// The files of these keys in the directory, root*.key and policy.key, including the waiting keys
// next to them, sorted by name. Empty if the directory cannot be listed.
std::vector<std::filesystem::path> OfflineKeyFiles(const std::filesystem::path& keys_dir);

// Logs a warning that names these files, if there are any.
void WarnOfOfflineKeys(const std::filesystem::path& keys_dir);

struct ExportedKeys {
  std::vector<std::filesystem::path> copies;  // at least one holds a key of the newest root
  // If true, anyone who can read the data directory can probably also read the copies.
  bool on_same_file_system = false;
};

// Moves the key files of a role, root or policy, from data_dir/keys into `directory`, which must
// exist. Each file is copied (mode 0600), made durable, read back, and compared with the original
// and with the newest root. The originals are removed only after this has succeeded for all files.
// If interrupted, the next call finishes it. kInvalidArgument: another role, or a directory in the
// data directory; kNotFound: no directory, or no file here holds a key of the newest root;
// kAlreadyExists: a file of that name in it has different contents.
Result<ExportedKeys> ExportOfflineKeys(const std::filesystem::path& data_dir, KeyRole role,
                                       const std::filesystem::path& directory);

}  // namespace fieldcost::publish
