#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace fieldcost::serve {

// The bytes that a user may still write on the disk of the directory; nothing if that is not known.
std::optional<std::uint64_t> FreeBytes(const std::filesystem::path& directory);

}  // namespace fieldcost::serve
