#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace fieldcost {

// Reads a regular file of at most `max_bytes` that is secret: no permissions for group or others,
// and owned by this user or root (root may read any user's). Checks the open file, not its path.
// `what` names its kind in messages ("key file"). kPermissionDenied if it is not secret, kTooLarge,
// kNotFound, kInvalidArgument if it is not a regular file.
Result<std::string> ReadSecretFile(std::string_view what, const std::filesystem::path& path,
                                   std::size_t max_bytes);

}  // namespace fieldcost
