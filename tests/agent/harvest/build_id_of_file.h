#pragma once

#include <cstring>
#include <filesystem>
#include <string>

#include "agent/harvest/build_id.h"
#include "common/base/file.h"

namespace fieldcost::testing {

inline std::string BuildIdIn(const std::string& bytes) {
  return agent::BuildIdIn([&](std::uint64_t offset, void* to, std::size_t size) -> std::size_t {
    if (offset >= bytes.size()) return 0;
    const std::size_t got = std::min<std::size_t>(size, bytes.size() - offset);
    std::memcpy(to, bytes.data() + offset, got);
    return got;
  });
}

inline std::string BuildIdOfFile(const std::filesystem::path& path) {
  constexpr std::size_t kMaxLibraryBytes = 64 << 20;
  const auto bytes = ReadFile(std::filesystem::canonical(path), kMaxLibraryBytes);
  return bytes ? BuildIdIn(*bytes) : std::string();
}

}  // namespace fieldcost::testing
