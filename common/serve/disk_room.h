#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace fieldcost::serve {

// The bytes available to unprivileged users on the directory's disk; nullopt if unknown.
std::optional<std::uint64_t> FreeBytes(const std::filesystem::path& directory);

}  // namespace fieldcost::serve
