#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace fieldcost::ingest {

// Reads a secret of this server (kSecretBytes as hex, mode 0600), or makes one of random bytes if
// there is no file. kPermissionDenied if others may read or write it or it is another user's;
// kCorrupt, naming the file, if it holds anything else.
Result<std::string> LoadOrCreateSecret(const std::filesystem::path& path);

// Compares in a time that does not depend on where the first difference is.
bool EqualInConstantTime(std::string_view a, std::string_view b);

}  // namespace fieldcost::ingest
