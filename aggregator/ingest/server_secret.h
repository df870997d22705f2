#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace fieldcost::ingest {

// Reads a secret of this server (kSecretBytes as hex, mode 0600), or creates a random one if there
// is no file. kPermissionDenied if others may read or write the file or it belongs to another user;
// kCorrupt, naming the file, if it contains anything else.
Result<std::string> LoadOrCreateSecret(const std::filesystem::path& path);

// Compares in a time that does not depend on the position of the first difference.
bool EqualInConstantTime(std::string_view a, std::string_view b);

}  // namespace fieldcost::ingest
