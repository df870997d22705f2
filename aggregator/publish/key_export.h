#pragma once

#include <filesystem>
#include <vector>

#include "aggregator/publish/key_rotation.h"
#include "common/base/result.h"

namespace fieldcost::publish {

// The keys that the service needs neither to run nor to publish: whoever has them can replace all
// other keys (root), or tell agents what to measure and send (policy).

// The files of these keys in this directory, root*.key and policy.key, with keys that wait beside
// them, in order of name. Empty if it cannot be listed.
std::vector<std::filesystem::path> OfflineKeyFiles(const std::filesystem::path& keys_dir);

// Logs a warning that names them, if there are any.
void WarnOfOfflineKeys(const std::filesystem::path& keys_dir);

struct ExportedKeys {
  std::vector<std::filesystem::path> copies;  // one at least holds a key of the newest root
  // True if who reads the data directory can probably read the copies, too.
  bool on_same_file_system = false;
};

// Moves the key files of a role, root or policy, out of data_dir/keys into `directory`, which is
// there already: each is copied (mode 0600), made durable, read back and compared with the original
// and with the newest root; only when all have been is the first original removed. If interrupted,
// the next call finishes it. kInvalidArgument: another role, or a directory in the data directory;
// kNotFound: no directory, or no file here holds a key of the newest root; kAlreadyExists: a file
// of that name in it holds something else.
Result<ExportedKeys> ExportOfflineKeys(const std::filesystem::path& data_dir, KeyRole role,
                                       const std::filesystem::path& directory);

}  // namespace fieldcost::publish
