#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace fieldcost {

// Reads a regular file of at most `max_bytes` that nobody but its reader knows: no permission for
// group or others, and it belongs to this user or to root (root itself reads anybody's). Looks at
// the very file that it reads. `what` names its kind in messages ("key file"). kPermissionDenied if
// it is not secret, kTooLarge, kNotFound, kInvalidArgument if it is no regular file.
Result<std::string> ReadSecretFile(std::string_view what, const std::filesystem::path& path,
                                   std::size_t max_bytes);

}  // namespace fieldcost
