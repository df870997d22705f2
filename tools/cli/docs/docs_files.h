#pragma once

#include <filesystem>
#include <string_view>

#include "common/base/result.h"

namespace fieldcost::cli {

// Writes a file that can be regenerated at any time: not atomically, not durably. kIo,
// kPermissionDenied.
Status WriteDocument(const std::filesystem::path& path, std::string_view bytes);

}  // namespace fieldcost::cli
